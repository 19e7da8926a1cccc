// Compares reports of samples with that of the whole heap: sampled.mjs WHOLE.json SAMPLE.json... Of the ten largest classes each must
// lie within the error that the sample states, and the first suspect must have the same class and holder, and its count within the
// error. Errors may not be so large that this is no wonder. TAP on standard output.
import { readFileSync } from "node:fs";

const [whole, ...samples] = process.argv.slice(2).map(name => JSON.parse(readFileSync(name, "utf8")));
const classes = [...whole.classes].sort((a, b) => b.bytes - a.bytes).slice(0, 10);
const suspect = whole.suspects[0];

// Says what is wrong with a sample: nothing is.
function faults(sample) {
	const list = [];
	for (const { class: name, objects, bytes } of classes) {
		const found = sample.classes.find(one => one.class === name);
		if (!found) {
			if (bytes > sample.sample.unseen) list.push(`${name}: not found, though it has ${bytes} bytes`);
		} else if (Math.abs(found.bytes - bytes) > found.bytes_error + bytes / 200) // a few may be of a size in which none was read
			list.push(`${name}: ${found.objects} ± ${found.objects_error} objects, ${found.bytes} ± ${found.bytes_error} bytes instead of ${objects}, ${bytes}`);
	}
	const found = sample.suspects[0];
	if (found.item !== suspect.item || Math.abs(found.count - suspect.count) > found.count_error ||
		found.entries !== suspect.container?.entries || !found.held_by.includes("main") || !found.held_by.includes("sessions"))
		list.push(`the first suspect is ${JSON.stringify(found)} instead of ${JSON.stringify(suspect)}`);
	if (Math.abs(found.bytes - suspect.retained) > found.bytes_error) list.push(`${found.bytes} ± ${found.bytes_error} bytes instead of ${suspect.retained}`);
	if (sample.suspects.every(one => one.item !== "main.node" || !`${one.held_by} ${JSON.stringify(one.in)}`.includes("lru"))) list.push("the list is not found");
	if (sample.sample.objects !== whole.heap.objects || sample.sample.bytes !== whole.heap.bytes)
		list.push(`${sample.sample.objects} objects instead of ${whole.heap.objects}`);
	if (sample.goroutines) list.push("goroutines are called leaked");
	return list;
}

const wrong = samples.map((sample, i) => faults(sample).map(fault => `# sample ${i + 1}: ${fault}`)).flat();
console.log(`${wrong.length ? "not " : ""}ok - the classes and the suspect of ${samples.length} samples`);
if (wrong.length) console.log(wrong.join("\n"));

// The errors, relative to the class, of those that are not exact.
const shares = samples.flatMap(sample => sample.classes).filter(one => classes.some(of => of.class === one.class) && one.bytes_error > 0)
	.map(one => one.bytes_error / one.bytes).sort((a, b) => a - b);
const median = shares[shares.length >> 1];
console.log(`${median < 0.5 ? "" : "not "}ok - errors of the largest classes: ${Math.round(100 * median)} % in the median`);
const some = samples.every(sample => sample.sample.read < sample.sample.objects * 0.6);
console.log(`${some ? "" : "not "}ok - most objects are not read: ${samples[0].sample.read} of ${samples[0].sample.objects}`);
