// What a report with --base says of the growth: no more of it may be silent than half.
//
// The report promises: WHAT GREW names at least half of the growth in the line "since", or says how much of it has no single
// place. tests/cli asks this of the dumps in the tree, answers.mjs of programs.
//
//   node growth.mjs go2heapsnapshot BASE DUMP [OPTION]...     prints what is wrong

import {execFileSync} from 'node:child_process';
import {fileURLToPath} from 'node:url';

const units = {B: 1, kB: 1e3, MB: 1e6, GB: 1e9};
const size = /([+-][\d.,]+) (B|kB|MB|GB)/.source;
const bytesOf = match => match ? Number(match[1].replaceAll(',', '')) * units[match[2]] : 0;

/** Returns what is wrong with the growth that a report says, as text and as JSON: a list of sentences. */
export function wrongNamed(text, json) {
  const wrong = [], since = bytesOf(new RegExp(`^since .*?: ${size}`, 'm').exec(text));
  const section = /^WHAT GREW.*?(?=\n\n|\n(?![^]))/ms.exec(text)?.[0] ?? '';
  const named = [...section.matchAll(new RegExp(`^  \\d+ +${size} `, 'gm'))].reduce((sum, match) => sum + bytesOf(match),
    bytesOf(new RegExp(`grew by much, ${size} together$`, 'm').exec(section)));
  const rest = bytesOf(new RegExp(`^  ${size} of the growth has no single place`, 'm').exec(section));
  if (section === '') wrong.push('there is no section WHAT GREW');
  if (since > 0 && named * 1.01 < since / 2 && (named + rest) * 1.01 < since)
    wrong.push(`since ${since}, but WHAT GREW names ${named}, and ${rest} in no single place`);
  if (since <= 0 || named >= since / 2 * 1.01 ? rest > 0 : rest === 0) wrong.push(`${rest} is in no single place, of ${since}`);
  const all = json.suspects.reduce((sum, {retained_grown: grown}) => sum + (grown ?? 0), json.more_suspects_grown ?? 0);
  if (Math.max(json.since.reachable, all) !== all + (json.grown_elsewhere?.bytes ?? 0))
    wrong.push(`JSON: since ${json.since.reachable}, ${all} in suspects, ${json.grown_elsewhere?.bytes} elsewhere`);
  return wrong;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [program, base, dump, ...options] = process.argv.slice(2);
  const report = (...more) => execFileSync(program, ['--format', 'report', ...more, '--base', base, ...options, dump],
    {encoding: 'utf8', env: {...process.env, COLUMNS: '120'}, stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 30});
  for (const sentence of wrongNamed(report(), JSON.parse(report('--json=suspects')))) console.log(sentence);
}
