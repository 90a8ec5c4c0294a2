/** Values that conditions compare: a field, as it is or as text or number. */
import { wrongAt } from './problem.js';
import { argumentsOf, fieldName, literalOf, textLiteral } from './translating.js';
import type { Node, NodeOf } from './tree.js';

export interface Operand {
  readonly field: string;
  /** What a missing field counts as. */
  readonly missing: 'nothing' | 'empty text' | 'zero';
  readonly letters: 'as they are' | 'lower' | 'upper';
  /** It is a boolean: whether the text is `true`, in any case. */
  readonly flag: boolean;
}

const plain: Omit<Operand, 'field'> = { missing: 'nothing', letters: 'as they are', flag: false };
export const valueFunctions = 'to_string, to_long, to_double, to_bool, lowercase, uppercase, get_field';

/** Undefined: it is something else than a field. */
export function operandOf(node: Node): Operand | undefined {
  if (node.kind === 'field') return { field: fieldName(node.name, node), ...plain };
  if (node.kind !== 'call') return undefined;
  switch (node.name) {
    case 'get_field':
      return {
        field: fieldName(textLiteral(argumentsOf(node, ['field'], 1).get('field'), 'The name of a field', node), node),
        ...plain,
      };
    case 'to_string': {
      const of = inner(node, '');
      if (of.missing === 'zero' || of.flag)
        throw wrongAt(
          node,
          'to_string() of a number or boolean that was made from a field is not supported; take the field itself.',
        );
      return { ...of, missing: 'empty text' };
    }
    case 'to_long':
    case 'to_double':
      return { ...inner(node, 0), missing: 'zero' };
    case 'to_bool':
      return { ...inner(node, false), flag: true };
    case 'lowercase':
    case 'uppercase':
      return { ...inner(node, undefined), letters: node.name === 'lowercase' ? 'lower' : 'upper' };
    default:
      return undefined;
  }
}

/** The value of a conversion; another default than the function's own is none of ours. */
function inner(call: NodeOf<'call'>, usual: string | number | boolean | undefined): Operand {
  const given = argumentsOf(call, usual === undefined ? ['value'] : ['value', 'default'], 1);
  const otherwise = given.get('default');
  if (otherwise !== undefined && literalOf(otherwise) !== usual)
    throw wrongAt(otherwise, `The default of ${call.name}() can only be ${JSON.stringify(usual)} here.`);
  const value = given.needed('value');
  const operand = operandOf(value);
  if (operand === undefined)
    throw wrongAt(value, `${call.name}() takes a field here: $message.field, or one of ${valueFunctions} of it.`);
  return operand;
}
