import type {
  CardMetadata,
  ControlMetadata,
  ErrorMetadata,
  QueryMetadata,
  ResultMetadata,
  TaskMetadata,
} from "./card.ts";
import { hasMembers, type Members, nameOf, type OwnOf, type Reading, type Rule } from "./reading.ts";
import { boolean, id, list, object, oneOf, required, string } from "./rules.ts";

/** A type of card: what `message_type` says, and what its metadata must have. */
export interface CardType<Name extends string = string, Own extends object = object> {
  readonly name: Name;
  /** How a flow diagram draws it: an arrow and the name. */
  readonly symbol: string;
  /** A card of this type ends the task that it replies to. */
  readonly terminal: boolean;
  /** Whether metadata has what the type asks for; notes what is wrong. */
  readonly fits: (metadata: CardMetadata, at: Reading) => metadata is CardMetadata & Own;
}

export interface CardTypeOptions<M extends Members> {
  /** Rules for the members of its metadata that are its own. */
  readonly metadata: M;
  /** Default: `• [NAME]`. */
  readonly symbol?: string;
  /** Default false. */
  readonly terminal?: boolean;
}

/** A type of your own, for `createCardProtocol`. The compiler learns its metadata from the rules. */
export function defineCardType<const Name extends string, const M extends Members>(
  name: Name,
  options: CardTypeOptions<M>,
): CardType<Name, OwnOf<M>> {
  const { metadata: members, symbol = `• [${name.toUpperCase()}]`, terminal = false } = options;
  return {
    name,
    symbol,
    terminal,
    fits: (metadata, at): metadata is CardMetadata & OwnOf<M> => hasMembers(metadata, members, at),
  };
}

const texts: Rule<string | string[]> = (value, at): value is string | string[] =>
  Array.isArray(value)
    ? list(string)(value, at)
    : typeof value === "string"
      ? string(value, at)
      : at.refuse(`must be a string or an array of strings, not ${nameOf(value)}`);

export const task: CardType<"task", TaskMetadata> = defineCardType("task", {
  metadata: { context: object, forced: boolean },
  symbol: "→ [TASK]",
});

export const result: CardType<"result", ResultMetadata> = defineCardType("result", {
  metadata: { status: required(oneOf("success", "completed", "error", "partial")), selected: texts },
  symbol: "← [RESULT]",
  terminal: true,
});

export const query: CardType<"query", QueryMetadata> = defineCardType("query", {
  metadata: { options: list(string), multiple: boolean },
  symbol: "? [QUERY]",
});

export const control: CardType<"control", ControlMetadata> = defineCardType("control", {
  metadata: { parameters: object },
  symbol: "⚙ [CONTROL]",
});

export const error: CardType<"error", ErrorMetadata> = defineCardType("error", {
  metadata: { error_type: required(id), retryable: boolean, failure_mode: string },
  symbol: "✗ [ERROR]",
  terminal: true,
});

type CoreTypes = readonly [typeof task, typeof result, typeof query, typeof control, typeof error];

/** The types that every protocol has. */
export const CORE_TYPES: CoreTypes = [task, result, query, control, error];
