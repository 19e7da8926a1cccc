// Runs the statements of a file in DuckDB, one after the other, and prints the rows that they return and the seconds that
// they take.
//
//   ask.mjs FILE.sql        run it in the directory that has node_modules and tables

import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';

const {DuckDBInstance} = createRequire(process.cwd() + '/')('@duckdb/node-api');
const connection = await (await DuckDBInstance.create(':memory:')).connect();
const text = readFileSync(process.argv[2], 'utf8').replace(/^--.*\n/gm, '');
for (const statement of text.split(/;\s*\n/).filter(part => part.trim())) {
  const start = performance.now();
  const reader = await connection.runAndReadAll(statement);
  const seconds = (performance.now() - start) / 1000;
  console.log(`${statement.trim()};`);
  for (const row of [reader.columnNames(), ...reader.getRowsJson()]) console.log('  ' + row.map(value => String(value)).join('  '));
  console.log(`  ${seconds.toFixed(3)} s\n`);
}
