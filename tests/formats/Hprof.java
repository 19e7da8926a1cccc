// HPROF files as VisualVM's own library reads them: what a user of VisualVM would see. Lines of words with tabs between
// them on standard output.
//
//   java -cp org-graalvm-visualvm-lib-jfluid-heap.jar Hprof.java FILE [CLASS]...
//
// Of each class with instances their number, their bytes and its name; of each thread its name and stack; and of the first
// instance of each CLASS its fields with their values, and who holds it, up to a root.

import java.io.File;
import java.util.List;
import org.graalvm.visualvm.lib.jfluid.heap.*;

class Hprof {
    static Heap heap;

    static void say(Object... words) {
        StringBuilder line = new StringBuilder();
        for (Object word : words)
            line.append(line.length() > 0 ? "\t" : "").append(String.valueOf(word).replace('\n', ' '));
        System.out.println(line);
    }

    static String textOf(Object string) {
        Instance of = (Instance) string;
        if (of == null)
            return "null";
        PrimitiveArrayInstance array = (PrimitiveArrayInstance) of.getValueOfField("value");
        byte[] bytes = new byte[array.getLength()];
        for (int i = 0; i < bytes.length; i++)
            bytes[i] = Byte.parseByte((String) array.getValues().get(i));
        boolean isWide = (Byte) of.getValueOfField("coder") == 1;
        return new String(bytes, isWide ? java.nio.charset.StandardCharsets.UTF_16BE : java.nio.charset.StandardCharsets.ISO_8859_1);
    }

    static void sayClasses() {
        for (Object each : heap.getAllClasses()) {
            JavaClass of = (JavaClass) each;
            if (of.getInstancesCount() > 0)
                say("class", of.getInstancesCount(), of.getAllInstancesSize(), of.getName());
        }
    }

    static void sayThreads() {
        for (Object each : heap.getGCRoots())
            if (each instanceof ThreadObjectGCRoot) {
                ThreadObjectGCRoot thread = (ThreadObjectGCRoot) each;
                Instance group = (Instance) thread.getInstance().getValueOfField("group");
                say("thread", textOf(thread.getInstance().getValueOfField("name")), group == null ? "" : textOf(group.getValueOfField("name")));
                for (StackTraceElement frame : thread.getStackTrace())
                    say("at", frame);
            }
    }

    static void sayFields(Instance instance) {
        for (Object each : instance.getFieldValues()) {
            FieldValue field = (FieldValue) each;
            Instance to = field instanceof ObjectFieldValue ? ((ObjectFieldValue) field).getInstance() : null;
            boolean isText = to != null && to.getJavaClass().getName().equals("java.lang.String");
            say("field", field.getField().getName(), isText ? textOf(to) : to != null ? to.getJavaClass().getName() : field.getValue());
        }
    }

    // By which field or element an instance is held by another.
    static String wayFrom(Instance holder, Instance instance) {
        for (Object each : (List<?>) instance.getReferences()) {
            Value value = (Value) each;
            if (value.getDefiningInstance().getInstanceId() != holder.getInstanceId())
                continue;
            if (value instanceof ArrayItemValue)
                return "[" + ((ArrayItemValue) value).getIndex() + "]";
            return ((FieldValue) value).getField().getName();
        }
        return "?";
    }

    static void sayRoot(Instance instance) {
        for (Object each : (java.util.Collection<?>) heap.getGCRoots(instance)) {
            GCRoot root = (GCRoot) each;
            if (root instanceof JavaFrameGCRoot) {
                JavaFrameGCRoot local = (JavaFrameGCRoot) root;
                ThreadObjectGCRoot thread = local.getThreadGCRoot();
                say("root", root.getKind(), thread.getStackTrace()[local.getFrameNumber()], textOf(thread.getInstance().getValueOfField("name")));
            } else {
                JavaClass of = heap.getJavaClassByID(instance.getInstanceId());
                say("root", root.getKind(), of == null ? instance.getJavaClass().getName() : of.getName());
            }
        }
    }

    static void sayWay(Instance instance) {
        say("retained", instance.getRetainedSize());
        while (!instance.isGCRoot()) {
            Instance holder = instance.getNearestGCRootPointer();
            if (holder == null) {
                say("root", "none");
                return;
            }
            say("held by", holder.getJavaClass().getName(), wayFrom(holder, instance));
            instance = holder;
        }
        sayRoot(instance);
    }

    public static void main(String[] arguments) throws Exception {
        heap = HeapFactory.createHeap(new File(arguments[0]));
        sayClasses();
        sayThreads();
        for (int i = 1; i < arguments.length; i++) {
            Instance instance = (Instance) heap.getJavaClassByName(arguments[i]).getInstances().get(0);
            say("instance", arguments[i], instance.getSize());
            sayFields(instance);
            sayWay(instance);
        }
    }
}
