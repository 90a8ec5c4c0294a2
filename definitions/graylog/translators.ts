/** All translators, as the contract has them. */
import type { GraylogTranslators, ReadPipeline } from './contract.js';
import { tryGrok } from './dry-run-grok.js';
import { extractorsOf } from './extractors/rules.js';
import { translateExtractor } from './extractors/translate.js';
import { grokProblem, grokTable, isBroken, maxPatterns, withGrokPatterns } from './grok-patterns.js';
import { parsePipeline } from './pipeline-rules/parse-pipeline.js';
import { wrongAt } from './pipeline-rules/problem.js';
import { translateRule } from './pipeline-rules/translate.js';
import { pipelineRules } from './pipelines.js';

export const graylogTranslators: GraylogTranslators = {
  pipelines: { translateRule, readPipeline, rulesOf: pipelineRules },
  extractors: { list: extractorsOf, translate: translateExtractor },
  grok: {
    max: maxPatterns,
    table: grokTable,
    problem: grokProblem,
    isBroken,
    dryRun: tryGrok,
    inActions: withGrokPatterns,
  },
};

function readPipeline(source: string, ruleTitles: ReadonlySet<string>): ReadPipeline {
  const { name: title, stages } = parsePipeline(source);
  const missing = stages.flatMap(({ rules }) => rules).find(({ name }) => !ruleTitles.has(name));
  if (missing !== undefined)
    throw wrongAt(missing, `There is no pipeline rule ${JSON.stringify(missing.name)}; create it first.`);
  return {
    title,
    stages: stages.map(({ stage, match, rules }) => ({ stage, match, rules: rules.map(({ name }) => name) })),
  };
}
