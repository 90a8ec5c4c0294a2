/** Explanations for a terminal. */
import type { Change, ExplainedRule, ExplainedStream, Explanation, Verdict } from '../../rules/engine/explain.js';

interface Paint {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly strong: (text: string) => string;
}

export function createPaint(color: boolean | undefined): Paint {
  const colored = color ?? (process.stdout.isTTY && (process.env['NO_COLOR'] ?? '') === '');
  const code = (number: number) => (text: string) => (colored ? `\u001b[${number}m${text}\u001b[0m` : text);
  return { good: code(32), bad: code(31), faint: code(2), strong: code(1) };
}

export function testText(explanation: Explanation, paint: Paint): string {
  const { routing, changes, after, microseconds, version } = explanation;
  const lines = routing.dropped
    ? [paint.bad('dropped')]
    : [
        `${paint.strong('streams')}     ${routing.streams.join(', ')}`,
        `${paint.strong('index sets')}  ${routing.indexSets.join(', ')}`,
      ];
  lines.push(
    `${paint.strong('matched')}     ${
      explanation.rules
        .filter((rule) => rule.state === 'matched')
        .map((rule) => rule.id)
        .join(', ') || 'no rule'
    }`,
  );
  lines.push(
    `${paint.strong('time')}        ${microseconds.toFixed(1)} us, rule set ${version}`,
    '',
    paint.strong('changes'),
  );
  lines.push(...(changes.length === 0 ? ['  none'] : changes.map((change) => `  ${changeText(change, paint)}`)));
  lines.push(
    '',
    paint.strong('document'),
    ...Object.entries(after).map(([field, value]) => `  ${field} = ${JSON.stringify(value)}`),
  );
  return lines.join('\n');
}

export function explainText(explanation: Explanation, paint: Paint): string {
  const rules = explanation.rules.flatMap((rule) => ruleLines(rule, paint));
  const streams = explanation.streams.flatMap((stream) => streamLines(stream, paint));
  const notes = explanation.obfuscated ? ['', 'Sensitive text was replaced after routing.'] : [];
  return [
    paint.strong('RULES'),
    ...rules,
    '',
    paint.strong('STREAMS'),
    ...streams,
    ...notes,
    '',
    paint.strong('OUTCOME'),
    testText(explanation, paint),
  ].join('\n');
}

function ruleLines(rule: ExplainedRule, paint: Paint): string[] {
  const state =
    rule.state === 'matched'
      ? paint.good('matched')
      : rule.state === 'failed'
        ? paint.bad('failed')
        : paint.faint(rule.state);
  const lines = [`${rule.id}: ${state} ${paint.faint(`(${rule.file})`)}`];
  if (rule.error !== undefined) lines.push(`  ${paint.bad(rule.error)}`);
  if (rule.condition !== undefined) lines.push(...verdictLines(rule.condition, 1, paint));
  if (rule.state === 'matched')
    lines.push(
      ...rule.actions.map((action) => `  then ${action}`),
      ...rule.changes.map((change) => `    ${changeText(change, paint)}`),
    );
  return lines;
}

function streamLines(stream: ExplainedStream, paint: Paint): string[] {
  const verdict = stream.member ? paint.good('yes') : paint.faint('no');
  const lines = [`${stream.id}: ${verdict}, ${stream.reason} ${paint.faint(`(index set ${stream.indexSet})`)}`];
  if (stream.condition !== undefined) lines.push(...verdictLines(stream.condition, 1, paint));
  return lines;
}

function verdictLines(verdict: Verdict, depth: number, paint: Paint): string[] {
  const mark = verdict.held ? paint.good('yes') : paint.bad('no ');
  const found = verdict.found === undefined ? '' : paint.faint(` (found ${verdict.found})`);
  return [
    `${'  '.repeat(depth)}${mark} ${verdict.text}${found}`,
    ...verdict.children.flatMap((child) => verdictLines(child, depth + 1, paint)),
  ];
}

function changeText({ field, before, after }: Change, paint: Paint): string {
  if (after === undefined) return paint.bad(`- ${field}`);
  if (before === undefined) return paint.good(`+ ${field} = ${JSON.stringify(after)}`);
  return `~ ${field} = ${JSON.stringify(after)} ${paint.faint(`(was ${JSON.stringify(before)})`)}`;
}
