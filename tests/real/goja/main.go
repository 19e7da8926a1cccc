// goja, a JavaScript engine, runs a script that leaves much behind, and then the dump is taken, from JavaScript: goja FILE
// [SHARE], where SHARE is how much of it all, 1 unless given.
package main

import (
	"log"
	"os"
	"strconv"

	"github.com/dop251/goja"

	"truth/record"
)

const script = `
'use strict';
function Account(name, balance) { this.name = name; this.balance = balance; this.history = []; this.friends = {}; }
Account.prototype = {
  constructor: Account,
  deposit: function(amount, why) { this.balance += amount; this.history.push({amount: amount, why: why, when: new Date(clock++)}); return this; },
  get rich() { return this.balance > 1000; }
};
var clock = 0, accounts = {}, byLetter = {}, log = [], patterns = [], kept = [], numbers = [];
function counter(start) { var n = start; return {next: function() { return ++n; }, reset: function(to) { n = to; }}; }
function add(i) {
  var name = String.fromCharCode(97 + i % 26) + 'ccount ' + i + (i % 10 ? '' : ' \u00e9\u4e2d');
  var a = new Account(name, i / 3);
  for (var j = 0; j < i % 5; j++) a.deposit(j * 1.5, 'reason ' + j);
  (byLetter[name[0]] = byLetter[name[0]] || []).push(a);
  for (var other in accounts) { a.friends[other] = accounts[other]; if (i % 3) break; if (Object.keys(a.friends).length > 4) break; }
  if (i % 100 === 0) accounts = {};
  accounts[name] = a;
  if (i % 4 === 0) kept.push(counter(i).next, function() { return a.name + name; }, function(x) { return x + this.name; }.bind(a, 4));
  if (i % 50 === 0) patterns.push(new RegExp('^(' + name + ')+[a-z]*?\\d{1,' + (i % 7 + 1) + '}$', 'gi'), new RegExp('(?=x)' + i));
  if (i % 7 === 0) log.push(JSON.parse('{"id": ' + i + ', "list": [1, "two", {"three": [null, true, 4.5]}], "name": "' + i + '"}'));
  if (i % 11 === 0) { var o = {}; Object.defineProperty(o, 'hidden', {get: function() { return 1; }, configurable: true}); log.push(o); }
  if (i % 13 === 0) { try { null.x(); } catch (e) { log.push(e); } }
  if (i % 19 === 0) log.push(Object.freeze([1, , 3]), new String(name), new Number(i), new Function('x', 'return x + ' + i), arguments);
  numbers[i % 5000 * 3] = i;
}
for (var i = 0; i < count; i++) add(i);
function deep(n, o) { var local = {n: n, o: o}; if (n === 0) { dump(); return local; } return [deep(n - 1, local), local]; }
deep(20, native);
`

type native struct {
	Name  string
	Inner *native
	List  []int
	call  func(string) string
}

// Call is JavaScript's to call.
func (n *native) Call(s string) string { return n.call(s) }

func main() {
	share := 1.0
	if len(os.Args) > 2 {
		share, _ = strconv.ParseFloat(os.Args[2], 64)
	}
	program, err := goja.Compile("script.js", script, true)
	if err != nil {
		log.Fatal(err)
	}
	vms := []*goja.Runtime{}
	dumped := make(chan bool)
	for i := 0; i < 3; i++ {
		vm := goja.New()
		vms = append(vms, vm)
		n := &native{Name: "native", Inner: &native{Name: "inner", List: []int{1, 2, 3}}}
		n.call = func(s string) string { return n.Inner.Name + s }
		vm.Set("native", n)
		vm.Set("count", int(20000*share)+100)
		waiting := make(chan bool)
		vm.Set("dump", func(goja.FunctionCall) goja.Value {
			waiting <- true
			<-dumped
			return goja.Undefined()
		})
		go func() {
			if _, err := vm.RunProgram(program); err != nil {
				log.Fatal(err)
			}
			waiting <- true
		}()
		<-waiting
	}
	done := make(chan bool)
	go func() {
		record.Dump(os.Args[1])
		close(done)
	}()
	<-done
	close(dumped)
	_ = vms[0].Get("log")
}
