/** Whether a query text can be read, and where not; and what in it will find nothing. */
import { Type } from 'typebox';
import { isSluiceError } from '../../../../core/errors.js';
import type { Identity } from '../../../../schemas/access.js';
import { queryBody, queryText, timeRangeBody } from '../../../../schemas/api-search.js';
import type { FieldTypes } from '../../../../search/run/known-fields.js';
import { parsePlaced } from '../../../../search/language/parser.js';
import { isQueryProblem, problemText, type Place, type QueryProblem } from '../../../../search/language/problem.js';
import { queryOptions } from '../../../../search/language/options.js';
import { queryWarnings, type QueryWarning } from '../../../../search/language/warnings.js';
import type { ApiServer } from '../../contract.js';
import { isFailure } from '../../failure.js';
import { resolveRange } from '../../search/time-ranges.js';
import type { ApiServices } from '../../services.js';
import { readableStreams } from '../../stream-ids.js';

const place = Type.Union([Type.Integer(), Type.Null()]);
const explanation = Type.Object({
  error_type: Type.String(),
  error_title: Type.String(),
  error_message: Type.String(),
  begin_line: place,
  begin_column: place,
  end_line: place,
  end_column: place,
  related_property: Type.Union([Type.String(), Type.Null()]),
});
type Explanation = {
  error_type: string;
  error_title: string;
  error_message: string;
  begin_line: number | null;
  begin_column: number | null;
  end_line: number | null;
  end_column: number | null;
  related_property: string | null;
};

export function searchValidateRoutes(app: ApiServer, services: ApiServices): void {
  app.post(
    '/api/search/validate',
    {
      config: { permission: 'authenticated', reads: true },
      schema: {
        summary: 'Check a query text',
        description:
          'ERROR: it cannot be run. WARNING: it can, but no index that may be read has a field that it names, or a field never holds such a value.',
        tags: ['Search'],
        body: Type.Object({
          query: Type.Optional(Type.Union([queryText(), queryBody, Type.Null()])),
          timerange: Type.Optional(Type.Union([timeRangeBody, Type.Null()])),
          streams: Type.Optional(Type.Union([Type.Array(Type.String()), Type.Null()])),
        }),
        response: {
          200: Type.Object({
            status: Type.String(),
            explanations: Type.Array(explanation),
            context: Type.Object({ searched_index_ranges: Type.Array(Type.Unknown()) }),
          }),
        },
      },
    },
    async ({ body, identity }) => {
      const { query } = body;
      const text = typeof query === 'string' ? query : (query?.query_string ?? '');
      const parsed = parsePlaced(text, { ...queryOptions(services.config.search), aliases: false });
      const errors = [
        ...(isQueryProblem(parsed) ? [queryExplanation(text, parsed)] : []),
        ...rangeExplanations(() => {
          resolveRange(body.timerange, Date.now());
        }),
        ...rangeExplanations(() => {
          readableStreams(services, identity, body.streams);
        }),
      ];
      const warnings =
        errors.length > 0 || parsed.kind === 'problem' || parsed.places.size === 0
          ? []
          : queryWarnings(parsed, await knownFields(services, identity));
      const status = errors.length > 0 ? 'ERROR' : warnings.length > 0 ? 'WARNING' : 'OK';
      return {
        status,
        explanations: [...errors, ...warnings.map((warning) => warningExplanation(text, warning))],
        context: { searched_index_ranges: [] },
      };
    },
  );
}

/** A text can be checked while the store is busy or away: then without its fields. */
async function knownFields({ searcher }: ApiServices, { scope }: Identity): Promise<FieldTypes> {
  try {
    return await searcher.fields(scope);
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    return new Map();
  }
}

function queryExplanation(text: string, problem: QueryProblem): Explanation {
  return {
    error_type: 'QUERY_PARSING_ERROR',
    error_title: 'Query parsing error',
    error_message: problemText(problem),
    ...linesOf(text, { start: problem.position, end: problem.position + problem.length }),
    related_property: null,
  };
}

function warningExplanation(text: string, { kind, field, place, message }: QueryWarning): Explanation {
  const named =
    kind === 'field'
      ? { error_type: 'UNKNOWN_FIELD', error_title: 'Unknown field' }
      : { error_type: 'INVALID_VALUE_TYPE', error_title: 'Invalid value type' };
  return { ...named, error_message: message, ...linesOf(text, place), related_property: field };
}

function linesOf(
  text: string,
  { start, end }: Place,
): Pick<Explanation, 'begin_line' | 'begin_column' | 'end_line' | 'end_column'> {
  const at = (offset: number): { line: number; column: number } => {
    const lines = text.slice(0, offset).split('\n');
    return { line: lines.length, column: (lines.at(-1) as string).length };
  };
  const [first, last] = [at(start), at(end)];
  return { begin_line: first.line, begin_column: first.column, end_line: last.line, end_column: last.column };
}

function rangeExplanations(check: () => void): Explanation[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!isFailure(error)) throw error;
    return [
      {
        error_type: 'INVALID_VALUE_TYPE',
        error_title: 'Invalid search',
        error_message: error.message,
        begin_line: null,
        begin_column: null,
        end_line: null,
        end_column: null,
        related_property: 'timerange',
      },
    ];
  }
}
