/** The syntax tree of a Graylog pipeline rule, before anybody asks what it means. */
import type { Position } from '../contract.js';

export interface Argument {
  /** Undefined: by its place. */
  readonly name: string | undefined;
  readonly value: Node;
}

type Shape =
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'call'; readonly name: string; readonly given: readonly Argument[] }
  | { readonly kind: 'member'; readonly of: Node; readonly key: Node }
  | { readonly kind: 'not' | 'minus'; readonly of: Node }
  | { readonly kind: 'all' | 'any'; readonly of: readonly Node[] }
  | { readonly kind: 'operation'; readonly sign: string; readonly left: Node; readonly right: Node }
  | { readonly kind: 'list'; readonly of: readonly Node[] }
  | { readonly kind: 'map'; readonly of: readonly { readonly key: string; readonly value: Node }[] };

export type Node = Shape & Position;
export type NodeOf<Kind extends Node['kind']> = Extract<Node, { readonly kind: Kind }>;

export type Statement =
  | {
      readonly kind: 'let';
      readonly name: string;
      readonly value: Node;
      readonly line: number;
      readonly column: number;
    }
  | { readonly kind: 'do'; readonly call: NodeOf<'call'> };

export interface RuleText {
  readonly name: string;
  readonly when: Node;
  readonly then: readonly Statement[];
}

export interface StageText {
  readonly stage: number;
  readonly match: 'all' | 'either' | 'pass';
  readonly rules: readonly ({ readonly name: string } & Position)[];
}

export interface PipelineText {
  readonly name: string;
  readonly stages: readonly StageText[];
}
