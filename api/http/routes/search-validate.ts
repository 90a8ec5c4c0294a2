/** Whether a query text can be read, and where not. */
import { Type } from 'typebox';
import { queryBody, queryText, timeRangeBody } from '../../../schemas/api-search.js';
import { parseQuery } from '../../../search/parser.js';
import { queryOptions } from '../../../search/query-options.js';
import { isQueryProblem, problemText, type QueryProblem } from '../../../search/problem.js';
import type { ApiServer } from '../contract.js';
import { isFailure } from '../failure.js';
import { resolveRange } from '../search/time-ranges.js';
import type { ApiServices } from '../services.js';
import { readableStreams } from '../stream-ids.js';

const place = Type.Union([Type.Integer(), Type.Null()]);
const explanation = Type.Object({
  error_type: Type.String(), error_title: Type.String(), error_message: Type.String(), begin_line: place, begin_column: place, end_line: place, end_column: place, related_property: Type.Union([Type.String(), Type.Null()]),
});
type Explanation = { error_type: string; error_title: string; error_message: string; begin_line: number | null; begin_column: number | null; end_line: number | null; end_column: number | null; related_property: string | null };

export function searchValidateRoutes(app: ApiServer, services: ApiServices): void {
  app.post('/api/search/validate', {
    config: { permission: 'authenticated', reads: true },
    schema: {
      summary: 'Check a query text', tags: ['Search'],
      body: Type.Object({ query: Type.Optional(Type.Union([queryText(), queryBody, Type.Null()])), timerange: Type.Optional(Type.Union([timeRangeBody, Type.Null()])), streams: Type.Optional(Type.Union([Type.Array(Type.String()), Type.Null()])) }),
      response: { 200: Type.Object({ status: Type.String(), explanations: Type.Array(explanation), context: Type.Object({ searched_index_ranges: Type.Array(Type.Unknown()) }) }) },
    },
  }, async ({ body, identity }) => {
    const { query } = body;
    const text = typeof query === 'string' ? query : (query?.query_string ?? '');
    const parsed = parseQuery(text, queryOptions(services.config.search));
    const explanations = [...(isQueryProblem(parsed) ? [queryExplanation(text, parsed)] : []), ...rangeExplanations(() => { resolveRange(body.timerange, Date.now()); }), ...rangeExplanations(() => { readableStreams(services, identity, body.streams); })];
    return { status: explanations.length > 0 ? 'ERROR' : 'OK', explanations, context: { searched_index_ranges: [] } };
  });
}

function queryExplanation(text: string, problem: QueryProblem): Explanation {
  const at = (offset: number): { line: number; column: number } => {
    const lines = text.slice(0, offset).split('\n');
    return { line: lines.length, column: (lines.at(-1) as string).length };
  };
  const [begin, end] = [at(problem.position), at(problem.position + problem.length)];
  return { error_type: 'QUERY_PARSING_ERROR', error_title: 'Query parsing error', error_message: problemText(problem), begin_line: begin.line, begin_column: begin.column, end_line: end.line, end_column: end.column, related_property: null };
}

function rangeExplanations(check: () => void): Explanation[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!isFailure(error)) throw error;
    return [{ error_type: 'INVALID_VALUE_TYPE', error_title: 'Invalid search', error_message: error.message, begin_line: null, begin_column: null, end_line: null, end_column: null, related_property: 'timerange' }];
  }
}
