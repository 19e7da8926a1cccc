// The tests that may kill a mutant, cheapest first. Each killer runs the tests that it is given, until one fails, and gives the name
// of that one.
import fs from 'node:fs';
import path from 'node:path';
import { run } from './processes.mjs';

/** A line of TAP for a test that failed gives its name. */
export const failure = (line) => /^not ok(?: \d+)? - (.*)/.exec(line)?.[1];

/** Runs a test; gives the names of tests that failed, or why the command ended otherwise. Stops at the first that `old` has not. */
export async function failures(command, options, old = []) {
  const names = [];
  let fresh = '';
  const onLine = (line) => {
    const name = failure(line);
    if (name === undefined) return false;
    names.push(name);
    if (!old.includes(name)) fresh ||= name;
    return options.stop !== false && Boolean(fresh);
  };
  const { status, said } = await run(command, { ...options, onLine });
  if (!fresh && status !== 0 && !(status === 1 && names.length)) {
    fresh = `ended: ${status}${said ? ` ${said.trim().split('\n').filter((line) => /ERROR|runtime error|rror:/.test(line))[0] ?? ''}` : ''}`;
    names.push(fresh);
  }
  return { names, fresh: old.includes(fresh) ? '' : fresh };
}

/** How the tests of tier check are run, for coverage and for mutants; a test's name is unique in its killer. */
export const commands = (tree) => ({
  golden: (program, names) => [['tests/golden/run.sh', ...names], { cwd: tree, env: { GO2HEAPSNAPSHOT: program, JOBS: '1', FAIL_FAST: '1', CASE_SECONDS: '20' }, seconds: 'unlimited', wall: 1200, stop: false }],
  unit: (program) => [[program], { cwd: tree, env: { CMOCKA_MESSAGE_OUTPUT: 'TAP', QUICK: '1', ASAN_OPTIONS: 'hard_rss_limit_mb=4000' }, seconds: 90, wall: 300 }],
  cli: (program, [name]) => [['tests/cli/run.sh'], { cwd: tree, env: { GO2HEAPSNAPSHOT: program, FILES: name }, seconds: 60, wall: 900 }],
  oracle: (program, [name]) => [['node', 'tests/oracle/run.mjs', program, ...(name === 'cases' ? [] : oraclePair(name))], { cwd: tree, seconds: 120 }],
  live: (program) => [['node', 'tests/golden/live.mjs'], { cwd: tree, env: { GO2HEAPSNAPSHOT: program }, seconds: 60 }],
});

// As tests/run has them.
export const oracleTests = ['cases', 'go1.15-amd64', 'go1.26-s390x', 'go1.3beta1-amd64'];
const oraclePair = (name) => ['--no-cases', '--cuts', name === 'go1.15-amd64' ? '0' : '4', '--cut-first', `samples/dumps/${name}.1.dump.gz`, `samples/dumps/${name}.2.dump.gz`];

/** Runs tests one after the other, each in a command of its own, until one fails that does not fail without the mutant. */
async function oneByOne(tests, action) {
  for (const test of tests) {
    const { fresh } = await action(test);
    if (fresh) return `${test.name}: ${fresh}`;
  }
  return '';
}

export function killers(base) {
  const how = commands(base.tree);
  let linked = null;
  const program = (mutant) => {
    const output = path.join(base.work, 'bin/go2heapsnapshot');
    if (linked !== mutant) {
      fs.mkdirSync(path.dirname(output), { recursive: true });
      base.link('plain', '', output, mutant);
    }
    linked = mutant;
    return output;
  };
  const byProgram = (name) => ({ name, run: (mutant, tests) => oneByOne(tests, (test) => failures(...how[name](program(mutant), [test.name]), test.failed)) });
  /** The unit tests in a build; `objectOf` gives the mutant's object for it. */
  const byUnit = (name, build, objectOf) => ({
    name,
    async run(mutant, tests) {
      const object = objectOf(mutant);
      return oneByOne(tests, async (test) => {
        const output = path.join(base.work, 'bin', test.name); // a test may say its name
        fs.mkdirSync(path.dirname(output), { recursive: true });
        base.link(build, test.name, output, object);
        const [command, settings] = how.unit(output, []);
        const result = await failures(command, { ...settings, seconds: build === 'plain' ? 40 : 90 }, test.failed);
        if (!result.fresh) return result;
        // It counts only if the test passes without the mutant, now.
        base.link(build, test.name, output);
        const without = await failures(...how.unit(output, []), []);
        return without.names.includes(result.fresh) ? { fresh: '' } : result;
      });
    },
  });
  return [
    {
      name: 'golden',
      async run(mutant, tests) {
        const { fresh } = await failures(...how.golden(program(mutant), tests.map((test) => test.name)));
        return fresh;
      },
    },
    byUnit('unit', 'plain', (mutant) => mutant),
    byProgram('live'),
    byProgram('cli'),
    byProgram('oracle'),
    byUnit('sanitized', 'sanitized', (mutant) => base.sanitizedMutant(mutant)),
  ];
}
