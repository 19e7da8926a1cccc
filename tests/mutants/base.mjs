// The tree that mutants are made of: a clone of one revision with three builds, which stay as they are. A mutant is one object, with
// which programs are linked before the archive that has the unchanged one.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { collect, testsOfLine } from './coverage.mjs';
import { codeLines } from './mutations.mjs';

const sanitize = '-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer';
/** The flags of the library, and of what is linked with it. The tests need not be fast. */
const builds = {
  plain: { flags: '-O1 -g1', testFlags: '-O0 -g1' },
  sanitized: { flags: `${sanitize} -O1 -g1`, testFlags: `${sanitize} -O0` },
  covered: { flags: '-O0 -g1 -fsanitize-coverage=trace-pc', testFlags: '-O0 -g1' },
};

export class Base {
  constructor(top, revision, tests) {
    const git = (cwd, ...args) => String(this.must('git', args, cwd).stdout).trim();
    this.top = top;
    this.revision = git(top, 'rev-parse', '--short', `${revision}^{commit}`);
    this.tests = git(top, 'rev-parse', '--short', `${tests ?? revision}^{commit}`);
    this.home = path.join(top, 'build/mutants', this.revision);
    this.tree = path.join(this.home, 'tree');
    // A mutant's source has the name that the unchanged one has, because asserts contain it.
    this.work = path.join(this.home, `work-${process.pid}`);
    this.linker = spawnSync('ld.gold', ['--version']).status === 0 ? ['-fuse-ld=gold'] : [];
  }

  must(command, args, cwd = this.tree) {
    const ran = spawnSync(command, args, { cwd, maxBuffer: 1e9, env: { ...process.env, CCACHE_NOHASHDIR: 'yes' } });
    if (ran.status !== 0) throw new Error(`${command} ${args.join(' ')}: ${ran.error ?? ran.stderr}`);
    return ran;
  }

  /** Does something that no other process may do at the same time. */
  async alone(name, action) {
    const lock = path.join(this.home, `lock-${name}`);
    while (!this.lock(lock)) await new Promise((resolve) => setTimeout(resolve, 1000));
    try {
      return await action();
    } finally {
      fs.rmSync(lock, { recursive: true });
    }
  }

  /** Makes the clone, its builds and the coverage of the killers, if they are not there yet. */
  async prepare(killers) {
    fs.mkdirSync(this.home, { recursive: true });
    await this.alone('builds', () => {
      if (!fs.existsSync(this.tree)) {
        this.must('git', ['clone', '-q', '--shared', '--no-checkout', this.top, `${this.tree}.new`], this.top);
        this.must('git', ['checkout', '-q', this.revision], `${this.tree}.new`);
        fs.renameSync(`${this.tree}.new`, this.tree);
      }
      this.takeTests();
      const ask = (word) => String(this.must('make', ['-s', 'BUILD=build/BUILD', 'CFLAGS=', '--eval', `ask:; @echo $(${word})`, 'ask']).stdout).trim().split(' ');
      this.flags = [...ask('ALL_CPPFLAGS'), ...ask('ALL_CFLAGS').filter((flag) => !/^-W/.test(flag))];
      this.libraries = ask('LIBS');
      this.objects = { program: ask('CLI_OBJ'), library: [...ask('LIB_OBJ'), ...ask('INSPECT_OBJ')] };
      this.unitTests = fs.readdirSync(path.join(this.tree, 'tests/unit')).filter((name) => /^test_.*\.c$/.test(name)).map((name) => name.slice(0, -2));
      this.helpers = fs.readdirSync(path.join(this.tree, 'tests/unit')).filter((name) => /^(?!test_).*\.c$/.test(name)).map((name) => `tests/unit/${name.slice(0, -2)}.o`);
      const made = Object.keys(builds).filter((name) => name !== 'sanitized' || killers.includes('sanitized'));
      for (const name of made) this.build(name);
      this.unitTests = this.unitTests.filter((test) => made.every((name) => fs.existsSync(path.join(this.tree, `build/${name}/tests/unit/${test}.o`))));
    });
    this.coverage = {};
    for (const killer of killers) {
      const covered = killer === 'sanitized' ? 'unit' : killer;
      this.coverage[killer] = await this.alone(covered, () => collect(this, covered));
    }
    fs.mkdirSync(this.work);
    for (const directory of ['src', 'include']) fs.cpSync(path.join(this.tree, directory), path.join(this.work, directory), { recursive: true });
    process.on('exit', () => fs.rmSync(this.work, { recursive: true, force: true }));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));
  }

  /** Takes the lock of the clone, also from a process that has ended without giving it back. */
  lock(directory) {
    const owner = path.join(directory, 'owner');
    try {
      fs.mkdirSync(directory);
      fs.writeFileSync(owner, String(process.pid));
      return true;
    } catch {
      if (fs.existsSync(owner) && !fs.existsSync(`/proc/${fs.readFileSync(owner, 'utf8')}`)) fs.rmSync(directory, { recursive: true });
      return false;
    }
  }

  /** Takes the tests of another revision. */
  takeTests() {
    const file = path.join(this.home, 'tests');
    if ((fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : this.revision) === this.tests) return;
    this.must('git', ['checkout', '-q', this.tests, '--', 'tests']);
    for (const name of Object.keys(builds)) fs.rmSync(path.join(this.home, `built-${name}`), { force: true });
    fs.writeFileSync(file, this.tests);
  }

  build(name) {
    const done = path.join(this.home, `built-${name}`);
    if (fs.existsSync(done)) return;
    const cached = spawnSync('ccache', ['--version']).status === 0 ? 'ccache ' : '';
    const make = (flags, targets, words = []) => this.must('make', ['-s', '-j2', ...words, `BUILD=build/${name}`, `CC=${cached}gcc`, `CFLAGS=${flags}`, ...targets.map((target) => `build/${name}/${target}`)]);
    console.error(`building ${name}`);
    make(builds[name].flags, ['internal.a', 'go2heapsnapshot'].slice(0, name === 'plain' ? 2 : 1), name === 'plain' ? ['WERROR=1'] : []);
    if (name === 'covered') {
      make(builds[name].flags, this.objects.program.map((object) => object.replace('build/BUILD/', '')));
      this.must('gcc', ['-O1', '-fPIC', '-c', '-o', 'build/covered/coverage.o', path.join(this.top, 'tests/mutants/coverage.c')]);
      // An archive whose members have the names of their directories, too, because linker's maps have only a member's name.
      const flat = path.join(this.tree, 'build/covered/flat');
      fs.rmSync(flat, { recursive: true, force: true });
      fs.mkdirSync(flat);
      const members = this.objectsOf('covered', this.objects.library).map((object) => {
        const member = path.join(flat, path.relative('build/covered', object).replaceAll('/', '+'));
        fs.copyFileSync(path.join(this.tree, object), member);
        return member;
      });
      this.must('ar', ['rcs', 'build/covered/covered.a', ...members]);
    }
    make(builds[name].testFlags, this.helpers);
    const objects = this.unitTests.map((test) => `tests/unit/${test}.o`);
    try {
      make(builds[name].testFlags, objects);
    } catch {
      for (const object of objects) {
        try {
          make(builds[name].testFlags, [object]);
        } catch {
          console.error(`${object} does not compile with this revision`);
        }
      }
    }
    fs.writeFileSync(done, '');
  }

  /** The objects of a part of a build, with the mutant's in place of the unchanged one. */
  objectsOf(build, list, mutant) {
    return list.map((object) => object.replace('BUILD', build)).map((object) => (mutant && object === `build/${build}/${mutant.file.replace(/\.c$/, '.o')}` ? mutant.object : object));
  }

  /** Links the program, or a unit test, in a build, with a mutant's object or without. */
  link(build, test, output, mutant) {
    const own = test ? [`build/${build}/tests/unit/${test}.o`, ...this.helpers.map((helper) => `build/${build}/${helper}`)] : this.objectsOf(build, this.objects.program, mutant);
    const library = build === 'covered' ? ['build/covered/covered.a', 'build/covered/coverage.o']
      : [...(mutant && !own.includes(mutant.object) ? [mutant.object] : []), `build/${build}/internal.a`];
    const wraps = test ? [...new Set([...fs.readFileSync(path.join(this.tree, `tests/unit/${test}.c`), 'utf8').matchAll(/[ *]__wrap_([a-z0-9_]*)\(/g)].map((match) => `-Wl,--wrap=${match[1]}`))] : [];
    const flags = builds[build].flags.split(' ').filter((flag) => !flag.includes('coverage'));
    // gold takes a third of the time, but its map looks otherwise.
    const map = build === 'covered' ? [`-Wl,-Map=${output}.map`] : this.linker;
    this.must('gcc', [...flags, '-pthread', '-o', output, ...own, ...library, ...wraps, ...map, ...(test ? ['-lcmocka'] : []), ...this.libraries]);
  }

  /** Compiles a mutant; gives its object, or nothing if it does not compile or is the same code as before. */
  compileMutant(mutant) {
    const source = path.join(this.work, mutant.file);
    const original = fs.readFileSync(path.join(this.tree, mutant.file), 'utf8');
    const lines = original.split('\n');
    // What was matched has no comments, so the rest of the line may go.
    lines[mutant.line - 1] = mutant.new;
    fs.writeFileSync(source, lines.join('\n'));
    const object = { file: mutant.file, object: this.compile('plain', mutant.file, 'plain.o') };
    fs.writeFileSync(source, original);
    if (!object.object) return null;
    const same = path.join(this.work, 'same.o');
    const stripped = (file) => {
      this.must('strip', ['-g', '-o', same, file]);
      return fs.readFileSync(same);
    };
    if (stripped(object.object).equals(stripped(path.join(this.tree, 'build/plain', mutant.file.replace(/\.c$/, '.o'))))) return null;
    object.source = lines.join('\n');
    return object;
  }

  /** Compiles a source of the work directory for a build. */
  compile(build, file, name) {
    const output = path.join(this.work, name);
    const ran = spawnSync('gcc', [...this.flags, '-w', ...builds[build].flags.split(' '), '-c', '-o', output, file], { cwd: this.work });
    return ran.status === 0 ? output : '';
  }

  /** The mutant's object with sanitizers. */
  sanitizedMutant(mutant) {
    const source = path.join(this.work, mutant.file);
    fs.writeFileSync(source, mutant.source);
    const object = this.compile('sanitized', mutant.file, 'sanitized.o');
    fs.copyFileSync(path.join(this.tree, mutant.file), source);
    if (!object) throw new Error(`${mutant.file} does not compile with sanitizers`);
    return { file: mutant.file, object };
  }

  lines(file, all = false) {
    const source = fs.readFileSync(path.join(this.tree, file), 'utf8');
    return all ? source.split('\n') : codeLines(source);
  }

  /** The tests of a killer that execute a mutant's line. */
  testsOf(killer, mutant) {
    return testsOfLine(this.coverage[killer], mutant);
  }
}
