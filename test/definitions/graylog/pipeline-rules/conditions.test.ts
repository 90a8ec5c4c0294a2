/** Conditions of Graylog pipeline rules hold for the messages for which they hold there. */
import t from 'tap';
import type { LogDocument } from '../../../../schemas/messages.js';
import { problemOf, ruleText, runRule } from './support.js';

const check = (condition: string, holds: readonly LogDocument[], misses: readonly LogDocument[]): void => {
  void t.test(condition, async (t) => {
    for (const [documents, wanted] of [
      [holds, true],
      [misses, false],
    ] as const) {
      for (const document of documents)
        t.equal(
          runRule(ruleText(condition), document).document['hit'] === 'yes',
          wanted,
          `${JSON.stringify(document)} ${wanted ? 'holds' : 'misses'}`,
        );
    }
  });
};

check('true', [{}], []);
check('false', [], [{ a: 'x' }]);
check('has_field("a")', [{ a: 'x' }, { a: 0 }], [{}, { b: 'x' }, { a: ' ' }]);
check('has_field("container")', [{ container_name: 'x' }], [{}]);
check(
  'to_string($message.kind) == "KubernetesEvent"',
  [{ kind: 'KubernetesEvent' }],
  [{ kind: 'kubernetesevent' }, {}, { kind: 'KubernetesEvents' }],
);
check('$message.kind == "x"', [{ kind: 'x' }], [{}, { kind: 'y' }]);
check('"x" == $message.kind', [{ kind: 'x' }], [{ kind: 'y' }]);
check('$message.kind != "x"', [{ kind: 'y' }], [{ kind: 'x' }, {}]);
check('to_string($message.kind) != "x"', [{ kind: 'y' }, {}], [{ kind: 'x' }]);
check('to_string($message.kind) == ""', [{}], [{ kind: 'x' }]);
check('lowercase(to_string($message.kind)) == "x"', [{ kind: 'X' }, { kind: 'x' }], [{ kind: 'y' }, {}]);
check('lowercase(to_string($message.kind)) == "X"', [], [{ kind: 'X' }]);
check(
  'to_bool($message.nc_audit_label)',
  [{ nc_audit_label: 'true' }, { nc_audit_label: true }, { nc_audit_label: 'TRUE' }],
  [{ nc_audit_label: 'false' }, { nc_audit_label: '1' }, {}],
);
check('to_bool(to_string($message.l)) == true', [{ l: 'True' }], [{ l: 'false' }, {}]);
check('to_bool($message.l) == false', [{ l: 'false' }, {}], [{ l: 'true' }]);
check(
  'regex("^var.log.(messages|syslog)$", to_string($message.tag)).matches == true',
  [{ tag: 'var/log/syslog' }],
  [{ tag: 'x var/log/syslog' }, {}],
);
check('regex("a.c", to_string($message.tag)).matches', [{ tag: 'xabcx' }], [{ tag: 'a\nc' }]);
check('regex("^$", to_string($message.tag)).matches', [{}, { tag: '' }], [{ tag: 'x' }]);
check(
  'regex(value: to_string($message.tag), pattern: "\\\\bsystemd\\\\b").matches == true',
  [{ tag: 'systemd' }],
  [{ tag: 'systemdx' }],
);
check('regex("x", to_string($message.tag)).matches == false', [{ tag: 'a' }, {}], [{ tag: 'x' }]);
check(
  'contains(to_string($message.pod), "ingress-nginx")',
  [{ pod: 'my-ingress-nginx-1' }, { pod_name: 'ingress-nginx' }],
  [{ pod: 'INGRESS-NGINX' }, {}],
);
check(
  'contains(value: to_string($message.pod), search: "Ingress", ignore_case: true)',
  [{ pod: 'my-INGRESS' }],
  [{ pod: 'x' }],
);
check('contains(to_string($message.pod), "")', [{}, { pod: 'x' }], []);
check(
  'starts_with(to_string($message.tag), "a") && ends_with(to_string($message.tag), "z")',
  [{ tag: 'abz' }],
  [{ tag: 'ab' }, { tag: 'z' }],
);
check('is_null($message.a) || is_not_null($message.b)', [{}, { a: 'x', b: 'y' }], [{ a: 'x' }]);
check(
  'to_long($message.level) < 4',
  [{ level: 3 }, { level: '3' }, {}, { level: 'warn' }],
  [{ level: 4 }, { level: '5' }],
);
check('to_long($message.level) >= 4', [{ level: 4 }, { level: 5 }], [{ level: 3 }, {}, { level: 'x' }]);
check('to_long($message.level) == 3', [{ level: 3 }, { level: '3.0' }], [{ level: 4 }, {}]);
check('to_long($message.level) == 0', [{ level: 0 }, {}, { level: 'x' }], [{ level: 1 }]);
check('$message.level <= -1', [{ level: -1 }], [{ level: 0 }, {}]);
check('4 > to_double($message.level)', [{ level: 3.5 }, {}], [{ level: 4 }]);
check('not has_field("a")', [{}], [{ a: 'x' }]);
check('! (has_field("a") or has_field("b")) AND has_field("c")', [{ c: 'x' }], [{ a: 'x', c: 'x' }, {}]);
check('has_field("a") || has_field("b") && has_field("c")', [{ a: 'x' }, { b: 'x', c: 'x' }], [{ b: 'x' }, { c: 'x' }]);
check('(has_field("a") || has_field("b")) && has_field("c")', [{ a: 'x', c: 'x' }], [{ a: 'x' }]);
check('from_input(name: "My input")', [{ receiver: 'input-1' }], [{ receiver: 'gelf-tcp' }]);
check("/* of audit */ has_field('a') // only here\n", [{ a: 'x' }], [{}]);
check('$message.`odd-name` == "x"', [{ 'odd-name': 'x' }], [{}]);

t.test('what is not supported is refused by name and place', async (t) => {
  const refused = (condition: string, wanted: RegExp): void => {
    t.match(problemOf(ruleText(condition)), wanted, condition);
  };
  refused(
    'cidr_match("10.0.0.0/8", to_ip($message.ip))',
    /^3:3 The function cidr_match\(\) is not supported in a condition/,
  );
  refused('has_field("a") && lookup_has_value("t", $message.x)', /^3:21 The function lookup_has_value\(\)/);
  refused('regex("(?<!x)a", to_string($message.tag)).matches == true', /^3:9 The pattern cannot be used/);
  refused('regex("a", to_string($message.tag))', /add `\.matches`/);
  refused('grok("%{IP}", to_string($message.x)).matches == true', /^3:3 This cannot be a condition|grok/);
  refused('$message.a', /cannot be a condition/);
  refused('$message.a == $message.b', /must be a literal/);
  refused('$message.gl2_source_input == "x"', /no field gl2_source_input/);
  refused('has_field(field: "a", message: $message)', /argument `message` of has_field\(\) is not supported/);
  refused('has_field()', /needs `field`/);
  refused('has_field("a", "b")', /takes 1 arguments/);
  refused('to_string($message.a, "x") == "y"', /default of to_string\(\) can only be ""/);
  refused('from_input(name: "nothing")', /no input "nothing"/);
  refused('to_string($message.a) < "x"', /only equal or not/);
  refused('1 + 1 == 2', /takes a field|literal/);
  refused('"a\\d" == $message.x', /3:5 \\d is no escape/);
  refused('"open', /has no end/);
  refused('has_field("a") has_field("b")', /^3:18 Expected `end`|^3:18/);
  refused('/* open', /comment that begins here has no end/);
  refused('`x`', /cannot be a condition/);
  refused('is_null(to_string($message.a))', /^3:11 is_null\(\) of a conversion/);
  refused('to_string(to_long($message.a)) == "1"', /to_string\(\) of a number/);
});
