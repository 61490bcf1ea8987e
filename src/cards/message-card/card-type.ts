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
import { boolean, id, list, object, oneOf, required, string } from "./validation/rules.ts";

/** A type of card: what `message_type` says, and what its metadata must have. */
export interface CardType<Name extends string = string, Own extends object = object> {
  readonly name: Name;
  /** How a flow diagram draws it: an arrow and the name. */
  readonly symbol: string;
  /** A card of this type ends the task that it replies to. */
  readonly isTerminal: boolean;
  /** Whether metadata has what the type asks for; notes what is wrong. */
  readonly isValidMetadata: (metadata: CardMetadata, at: ValidationContext) => metadata is CardMetadata & Own;
}

export interface CardTypeOptions<M extends FieldRules> {
  /** Rules for the members of its metadata that are its own. */
  readonly metadata: M;
  /** Default: `• [NAME]`. */
  readonly symbol?: string;
  /** Default false. */
  readonly isTerminal?: boolean;
}

/** A type of your own, for `createCardProtocol`. The compiler learns its metadata from the rules. */
export function defineCardType<const Name extends string, const M extends FieldRules>(
  name: Name,
  options: CardTypeOptions<M>,
): CardType<Name, InferFields<M>> {
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

export const taskCardType: CardType<"task", TaskCardMetadata> = defineCardType("task", {
  metadata: { context: object, forced: boolean },
  symbol: "→ [TASK]",
});

export const resultCardType: CardType<"result", ResultCardMetadata> = defineCardType("result", {
  metadata: {
    status: required(oneOf("success", "completed", "error", "partial")),
    selected: stringOrStringListRule,
  },
  symbol: "← [RESULT]",
  isTerminal: true,
});

export const queryCardType: CardType<"query", QueryCardMetadata> = defineCardType("query", {
  metadata: { options: list(string), multiple: boolean },
  symbol: "? [QUERY]",
});

export const controlCardType: CardType<"control", ControlCardMetadata> = defineCardType("control", {
  metadata: { parameters: object },
  symbol: "⚙ [CONTROL]",
});

export const errorCardType: CardType<"error", ErrorCardMetadata> = defineCardType("error", {
  metadata: { error_type: required(id), retryable: boolean, failure_mode: string },
  symbol: "✗ [ERROR]",
  isTerminal: true,
});

type CoreCardTypes = readonly [
  typeof taskCardType,
  typeof resultCardType,
  typeof queryCardType,
  typeof controlCardType,
  typeof errorCardType,
];

/** The types that every protocol has. */
export const CORE_CARD_TYPES: CoreCardTypes = [
  taskCardType,
  resultCardType,
  queryCardType,
  controlCardType,
  errorCardType,
];
