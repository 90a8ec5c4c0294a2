/** `pipeline "name" (stage <number> match all|either|pass  rule "name";*)+ end` */
import { createCursor, isWord, type Cursor } from './cursor.js';
import { wrongAt } from './problem.js';
import type { PipelineText, StageText } from './tree.js';

/** More rules or stages than people write by hand. */
const maxStages = 50;
const maxRules = 200;
const matches = ['all', 'either', 'pass'] as const;

export function parsePipeline(source: string): PipelineText {
  const cursor = createCursor(source);
  cursor.expectWord('pipeline');
  const name = cursor.expectText('the name of the pipeline in quotes');
  const stages: StageText[] = [];
  while (isWord(cursor.peek(), 'stage')) {
    const place = cursor.peek();
    if (stages.length >= maxStages) throw wrongAt(place, `A pipeline has ${maxStages} stages at the most.`);
    const stage = parseStage(cursor);
    if (stages.some((other) => other.stage === stage.stage))
      throw wrongAt(place, `The stage ${stage.stage} stands here twice.`);
    stages.push(stage);
  }
  cursor.expectWord('end');
  cursor.expectEnd();
  return { name, stages: stages.sort((left, right) => left.stage - right.stage) };
}

function parseStage(cursor: Cursor): StageText {
  cursor.expectWord('stage');
  const negative = cursor.sign('-');
  const number = cursor.next();
  if (number.kind !== 'number' || !Number.isInteger(number.value))
    throw wrongAt(number, 'Expected the number of the stage.');
  cursor.expectWord('match');
  const match = matches.find((word) => cursor.word(word));
  if (match === undefined) throw wrongAt(cursor.peek(), `Expected ${matches.join(', ')}.`);
  const rules: StageText['rules'][number][] = [];
  while (isWord(cursor.peek(), 'rule')) {
    const { line, column } = cursor.next();
    if (rules.length >= maxRules) throw wrongAt({ line, column }, `A stage has ${maxRules} rules at the most.`);
    rules.push({ name: cursor.expectText('the name of a rule in quotes'), line, column });
    while (cursor.sign(';')) continue;
  }
  return { stage: (negative ? -1 : 1) * (number.value ?? 0), match, rules };
}
