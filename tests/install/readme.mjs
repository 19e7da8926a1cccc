// Tests that the commands in a page's blocks of console ("$ command") print the output that the page shows: readme.mjs PAGE BUILD.
// BUILD is the directory that has what the commands take from build/.

import assert from 'node:assert/strict';
import {execSync} from 'node:child_process';
import {readFileSync} from 'node:fs';

const [page, build] = process.argv.slice(2);
const blocks = [...readFileSync(page, 'utf8').matchAll(/^```console\n([^]*?)^```$/gm)].map(([, text]) => text);
assert.ok(blocks.length > 0, 'no block');
for (const block of blocks) {
  for (const part of block.split(/^\$ /m).slice(1)) {
    // A command may continue on the next line.
    const [, command, output] = /^((?:.*\\\n)*.*)\n([^]*)$/.exec(part);
    assert.equal(execSync(command.replaceAll('build/', `${build}/`), {encoding: 'utf8'}).replaceAll('\r', ''), output, command);
  }
}
