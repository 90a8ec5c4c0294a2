/** Whether a query text can be read, and where not; and what in it will find nothing. */
import { last } from '../../../../core/at.js';
import { Type } from 'typebox';
import { isSluiceError } from '../../../../core/errors.js';
import type { Identity } from '../../../../schemas/access.js';
import { queryBody, queryText, timeRangeBody } from '../../../../schemas/api-search.js';
import type { CheckedQuery, FieldTypes, QueryWarning, TextSpan } from '../../../../search/contract.js';
import type { ApiServer } from '../../contract.js';
import { isFailure } from '../../failure.js';
import { resolveRange } from '../../search/times/time-ranges.js';
import type { ApiServices } from '../../services.js';
import { readableStreams } from '../../stream-ids.js';

const position = Type.Union([Type.Integer(), Type.Null()]);
const explanation = Type.Object({
  error_type: Type.String(),
  error_title: Type.String(),
  error_message: Type.String(),
  begin_line: position,
  begin_column: position,
  end_line: position,
  end_column: position,
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
      const checked = services.language.check(text);
      const errors = [
        ...(checked.problem === undefined ? [] : [queryExplanation(text, checked.problem)]),
        ...rangeExplanations(() => {
          resolveRange(body.timerange, Date.now());
        }),
        ...rangeExplanations(() => {
          readableStreams(services, identity, body.streams);
        }),
      ];
      const warnings =
        errors.length > 0 || !checked.hasClauses ? [] : checked.warnings(await knownFields(services, identity));
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

function queryExplanation(text: string, { message, span }: NonNullable<CheckedQuery['problem']>): Explanation {
  return {
    error_type: 'QUERY_PARSING_ERROR',
    error_title: 'Query parsing error',
    error_message: message,
    ...linesOf(text, span),
    related_property: null,
  };
}

function warningExplanation(text: string, { kind, field, span, message }: QueryWarning): Explanation {
  const named =
    kind === 'field'
      ? { error_type: 'UNKNOWN_FIELD', error_title: 'Unknown field' }
      : { error_type: 'INVALID_VALUE_TYPE', error_title: 'Invalid value type' };
  return { ...named, error_message: message, ...linesOf(text, span), related_property: field };
}

function linesOf(
  text: string,
  { start, end }: TextSpan,
): Pick<Explanation, 'begin_line' | 'begin_column' | 'end_line' | 'end_column'> {
  const at = (offset: number): { line: number; column: number } => {
    const lines = text.slice(0, offset).split('\n');
    return { line: lines.length, column: last(lines).length };
  };
  const [from, to] = [at(start), at(end)];
  return { begin_line: from.line, begin_column: from.column, end_line: to.line, end_column: to.column };
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
