// Checks each template of PUT(), PUT_IF(), TABLE_PUT() and TABLE_OPEN() (src/output/report/page.h) against the values after it: as many
// as the template takes, a string literal never where it takes a number, and brackets that close. What runs is checked by asserts,
// this covers what no test runs. TAP on standard output.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const files = readdirSync("src", { recursive: true }).filter(f => f.endsWith(".c")).map(f => join("src", f));

// Returns the arguments of the call whose "(" is at this index, as texts.
function argumentsAt(code, open) {
	const list = [];
	let depth = 0, begin = open + 1;
	for (let at = open; at < code.length; at++) {
		const c = code[at];
		if (c === '"') {
			for (at++; code[at] !== '"'; at++)
				if (code[at] === "\\") at++;
		} else if (c === "'") {
			at += code[at + 1] === "\\" ? 3 : 2;
		} else if ("([{".includes(c)) {
			depth++;
		} else if (")]}".includes(c)) {
			if (--depth === 0) return [...list, code.slice(begin, at).trim()];
		} else if (c === "," && depth === 1) {
			list.push(code.slice(begin, at).trim());
			begin = at + 1;
		}
	}
	return list;
}

// Returns the strings that an expression of literals, "?" and ":" may be; none if it is something else.
function literals(expression) {
	const parts = [];
	const rest = expression.replace(/("(?:[^"\\]|\\.)*"\s*)+/g, text => {
		parts.push([...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(m => m[1]).join(""));
		return "S";
	});
	return /(^|[?:]\s*)S$/.test(rest) ? parts : [];
}

// Returns what a template takes after it: "s" a string, "n" a number; or a fault.
function taken(template) {
	const list = [];
	for (let at = 0; at < template.length; at++) {
		if ("<[".includes(template[at])) {
			at = template.indexOf(template[at] === "[" ? "]" : ">", at);
			if (at < 0) return "a bracket is not closed";
		}
		if (template[at] !== "%") continue;
		const field = /^%(\?)?#?(\*|\d+)?(?:\.(\*|\d+))?([snbcdpaf])(?:\{([^}]*)\})?/.exec(template.slice(at));
		if (!field) return `no field: ${template.slice(at, at + 10)}`;
		const [all, condition, width, most, kind, key] = field;
		if (condition) list.push("n");
		if (width === "*") list.push("n");
		if (most === "*") list.push("n");
		list.push(kind === "s" ? "s" : "n");
		if (kind === "p") list.push("n");
		if (key === "*") list.push("s");
		at += all.length - 1;
	}
	return list;
}

let checked = 0;
const faults = [];
for (const file of files) {
	const code = readFileSync(file, "utf8");
	for (const call of code.matchAll(/\b(PUT|PUT_IF|TABLE_PUT|TABLE_OPEN)\(/g)) {
		const list = argumentsAt(code, call.index + call[0].length - 1);
		const [expression, ...values] = list.slice(call[1] === "PUT_IF" ? 2 : 1);
		const where = `${file}:${code.slice(0, call.index).split("\n").length}`;
		if (/^\s*#define/.test(code.slice(code.lastIndexOf("\n", call.index) + 1, call.index))) continue;
		for (const template of literals(expression)) {
			const takes = taken(template);
			checked++;
			if (typeof takes === "string") faults.push(`${where}: ${takes}`);
			else if (takes.length !== values.length) faults.push(`${where}: takes ${takes.length} values, has ${values.length}`);
			else
				takes.forEach((kind, i) => {
					if (kind === "n" && literals(values[i]).length) faults.push(`${where}: value ${i + 1} is a string`);
				});
		}
	}
}
console.log(faults.length || checked < 200 ? "not ok - templates" : "ok - templates");
for (const fault of faults) console.log(`# ${fault}`);
console.log(`# ${checked} templates`);
