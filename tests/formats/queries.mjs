// Runs the SQL queries of a page: sqlite3 gets each ```sql block as it stands, and its first rows must be those that the
// page has in comments with an arrow: "-- → main.Session|Agent|2000". TAP on standard output.
//
//   queries.mjs FILE.md DIRECTORY COUNT      COUNT: the least number of queries; DIRECTORY has leak.1.db and leak.2.db

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {basename} from 'node:path';

import {end, test} from '../tap.mjs';

const [page, directory, count] = process.argv.slice(2);
const name = basename(page);
const blocks = [...readFileSync(page, 'utf8').matchAll(/^```sql\n(.*?)^```/gms)].map(([, sql]) => sql);

test(`${name} has ${count} queries or more`, () => assert.ok(blocks.length >= Number(count)));
for (const [i, sql] of blocks.entries()) {
  test(`${name}: query ${i + 1} answers what it says`, () => {
    const expected = [...sql.matchAll(/^-- → (.*)$/gm)].map(([, row]) => row);
    assert.notEqual(expected.length, 0, 'it does not say what it answers');
    const answer = execFileSync('sqlite3', ['-separator', '|', 'leak.2.db'], {cwd: directory, encoding: 'utf8', input: sql});
    assert.deepEqual(answer.split('\n').slice(0, expected.length), expected);
  });
}
end();
