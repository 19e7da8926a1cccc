// Tests that the manifests of docs/oom.md are valid: the pod by the types of Kubernetes' API, the unit by systemd, the Dockerfile's
// entry point as JSON. tests/process/at-death.sh runs their scripts. TAP on standard output.

import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import ts from 'typescript';
import {parse} from 'yaml';
import {end, report, test} from '../tap.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const blocks = [...readFileSync(join(here, '../../docs/oom.md'), 'utf8').matchAll(/^```(\w+)\n([^]*?)^```$/gm)];
const ofKind = kind => blocks.filter(block => block[1] === kind).map(block => block[2]);

/** What the compiler says about a pod: members that are missing, unknown or of another type. */
function wrongInPod(pod) {
  const path = join(here, 'pod.ts'), host = ts.createCompilerHost({});
  const text = `import {IPod} from 'kubernetes-models/v1';\nexport const pod: IPod = ${JSON.stringify(pod)};\n`, {getSourceFile} = host;
  host.getSourceFile = (name, ...rest) => name === path ? ts.createSourceFile(name, text, ts.ScriptTarget.ES2022) : getSourceFile.call(host, name, ...rest);
  const options = {noEmit: true, strict: true, types: [], skipLibCheck: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS, moduleResolution: ts.ModuleResolutionKind.Node10};
  return ts.getPreEmitDiagnostics(ts.createProgram([path], options, host)).map(wrong => ts.flattenDiagnosticMessageText(wrong.messageText, '\n')).join('\n');
}

const bytes = text => Number.parseInt(text) * {Mi: 1 << 20, Gi: 1 << 30}[text.slice(-2)];

const pods = ofKind('yaml').map(text => ({apiVersion: 'v1', kind: 'Pod', metadata: {name: 'server'}, ...parse(text, {strict: true})}));
test('there are manifests', () => assert.deepEqual([pods.length, ofKind('ini').length, ofKind('dockerfile').length], [1, 1, 1]));
for (const pod of pods) {
  test('the pod is as the API of Kubernetes has it', () => assert.equal(wrongInPod(pod), ''));
  test('an unknown member would be noticed', () => assert.match(wrongInPod({...pod, spec: {...pod.spec, shareProcessNamespaces: true}}), /shareProcessNamespaces/));
  test('a member of another type would be noticed', () => assert.notEqual(wrongInPod({...pod, spec: {...pod.spec, containers: {}}}), ''));
  test('what is mounted is a volume', () => {
    const mounts = pod.spec.containers.flatMap(container => container.volumeMounts ?? []).map(mount => mount.name);
    assert.deepEqual(mounts, pod.spec.volumes.map(volume => volume.name));
  });
  test('the sidecar has memory for the copy, a quarter more than the server', () => {
    const [server, sidecar] = pod.spec.containers.map(container => bytes(container.resources.limits.memory));
    assert.ok(sidecar >= 1.25 * server, `${sidecar} of ${server}`);
  });
}

for (const text of ofKind('dockerfile'))
  test('the entry point is JSON', () => assert.deepEqual(JSON.parse(text.match(/^ENTRYPOINT (.*)$/m)[1]).slice(0, 1), ['go2heapsnapshot']));

/** What systemd says about a unit, beside the one that it belongs to. */
function wrongInUnit(text) {
  const directory = mkdtempSync('/tmp/unit-');
  writeFileSync(join(directory, 'at-death@.service'), text);
  writeFileSync(join(directory, 'server.service'), '[Service]\nExecStart=/bin/true\n');
  const {status, stderr, error} = spawnSync('systemd-analyze', ['verify', '--man=no', join(directory, 'at-death@server.service')],
    {encoding: 'utf8', env: {...process.env, SYSTEMD_UNIT_PATH: `${directory}:`}});
  rmSync(directory, {recursive: true});
  return error ?? (status === 0 ? stderr.split('\n').filter(line => line.includes('at-death@')).join('\n') : stderr || `status ${status}`);
}

for (const text of ofKind('ini')) {
  const wrong = wrongInUnit(text);
  if (wrong instanceof Error) report(`the unit is as systemd has it # SKIP ${wrong.message}`);
  else {
    test('the unit is as systemd has it', () => assert.equal(wrong, ''));
    test('an unknown key would be noticed', () => assert.match(wrongInUnit(text.replace('Restart=', 'Restarts=')), /Restarts/));
  }
}
end();
