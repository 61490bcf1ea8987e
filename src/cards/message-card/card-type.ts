import { defineOptionNames } from "../../base/usage-checks/index.ts";
import type {
  CardMetadata,
  ControlCardMetadata,
  ErrorCardMetadata,
  QueryCardMetadata,
  ResultCardMetadata,
  TaskCardMetadata,
} from "./message-card.ts";
import {
  matchesFieldRules,
  type FieldRules,
  describeValue,
  type InferFields,
  type ValidationContext,
  type FieldRule,
} from "./validation/validation-context.ts";
import {
  boolean,
  id,
  list,
  nonNegativeInteger,
  object,
  oneOf,
  required,
  string,
} from "./validation/field-rules.ts";

/** A message card type, which consists of a `message_type` and rules for the metadata. */
export interface CardType<Name extends string = string, Own extends object = object> {
  readonly name: Name;
  /** Text that represents the card type in a flow diagram, such as `→ [TASK]`. */
  readonly symbol: string;
  /** Whether a message card of this type ends the task that it replies to. */
  readonly isTerminal: boolean;
  /**
   * Returns whether the metadata conforms to the rules of the card type. `isValidMetadata` adds each
   * violation to `at`.
   */
  readonly isValidMetadata: (metadata: CardMetadata, at: ValidationContext) => metadata is CardMetadata & Own;
}

/** Options of `defineCardType`. */
export interface CardTypeOptions<M extends FieldRules> {
  /** Rules for metadata members of this card type, in addition to the rules for all message cards. */
  readonly metadata: M;
  /** Text that represents the card type in a flow diagram, by default `• [NAME]`. */
  readonly symbol?: string;
  /** Whether a message card of this type ends the task that it replies to. Default: `false`. */
  readonly isTerminal?: boolean;
}

const assertKnownOptions = defineOptionNames<CardTypeOptions<FieldRules>>()(
  "defineCardType",
  "isTerminal metadata symbol",
);

/**
 * Defines a type of message cards for `createCardProtocol`. The TypeScript compiler infers the metadata type
 * from the rules.
 */
export function defineCardType<const Name extends string, const M extends FieldRules>(
  name: Name,
  options: CardTypeOptions<M>,
): CardType<Name, InferFields<M>> {
  assertKnownOptions(options);
  const { metadata: members, symbol = `• [${name.toUpperCase()}]`, isTerminal: terminal = false } = options;
  return {
    name,
    symbol,
    isTerminal: terminal,
    isValidMetadata: (metadata, at): metadata is CardMetadata & InferFields<M> =>
      matchesFieldRules(metadata, members, at),
  };
}

const stringOrStringListRule: FieldRule<string | string[]> = (value, at): value is string | string[] =>
  Array.isArray(value)
    ? list(string)(value, at)
    : typeof value === "string"
      ? string(value, at)
      : at.addViolation(`must be a string or an array of strings, not ${describeValue(value)}`);

type CoreCardTypes = readonly [
  CardType<"task", TaskCardMetadata>,
  CardType<"result", ResultCardMetadata>,
  CardType<"query", QueryCardMetadata>,
  CardType<"control", ControlCardMetadata>,
  CardType<"error", ErrorCardMetadata>,
];

/** Types of message cards that every card protocol includes. */
export const CORE_CARD_TYPES: CoreCardTypes = [
  defineCardType("task", { metadata: { context: object, forced: boolean }, symbol: "→ [TASK]" }),
  defineCardType("result", {
    metadata: {
      status: required(oneOf("success", "completed", "error", "partial")),
      selected: stringOrStringListRule,
    },
    symbol: "← [RESULT]",
    isTerminal: true,
  }),
  defineCardType("query", { metadata: { options: list(string), multiple: boolean }, symbol: "? [QUERY]" }),
  defineCardType("control", { metadata: { parameters: object }, symbol: "⚙ [CONTROL]" }),
  defineCardType("error", {
    metadata: {
      error_type: required(id),
      retryable: boolean,
      failure_mode: string,
      http_status: nonNegativeInteger,
    },
    symbol: "✗ [ERROR]",
    isTerminal: true,
  }),
];
