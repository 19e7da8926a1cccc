// TAP output: one line per check, the first few mismatches as comments under it.
const SHOWN = 5;
const WIDTH = 240;

export class Tap {
  constructor(write = (line) => console.log(line)) {
    this.write = write;
    this.count = 0;
    this.failed = 0;
  }

  ok(condition, name, details = []) {
    this.count++;
    if (!condition) this.failed++;
    this.write(`${condition ? 'ok' : 'not ok'} ${this.count} - ${name}`);
    if (!condition) this.list(details);
    return condition;
  }

  /** A check that collects what is wrong: passes when nothing was collected. */
  none(problems, name) {
    return this.ok(problems.length === 0, problems.length === 0 ? name : `${name}: ${problems.length} wrong`, problems);
  }

  equal(actual, expected, name) {
    return this.ok(actual === expected, name, [`is ${actual}, should be ${expected}`]);
  }

  note(text) {
    this.write(`# ${text.length > WIDTH ? `${text.slice(0, WIDTH)}…` : text}`);
  }

  list(details) {
    for (const line of details.slice(0, SHOWN)) this.note(line);
    if (details.length > SHOWN) this.note(`… ${details.length - SHOWN} more`);
  }

  end() {
    this.write(`1..${this.count}`);
    if (this.failed) process.exitCode = 1;
  }
}
