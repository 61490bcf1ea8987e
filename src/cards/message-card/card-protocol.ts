import { defineOptionNames } from "../../base/usage-checks/index.ts";
import { A2AError, type FieldViolation, type JsonObject } from "../../protocol/index.ts";
import type {
  MessageCard,
  CardMetadata,
  ControlCard,
  ErrorCard,
  ErrorCardMetadata,
  QueryCard,
  ResultCard,
  ResultCardStatus,
  TaskCard,
} from "./message-card.ts";
import { type CardType, CORE_CARD_TYPES } from "./card-type.ts";
import { parseJsonText, parseCardCollectingViolations } from "./parse-card.ts";
import { ValidationContext } from "./validation/validation-context.ts";

/** Name of the role that delegates problems to planners. */
export const CONTROLLER = "controller";
/** Name of the role that divides a problem into tasks for solvers. */
export const PLANNER = "planner";
/** Name of the role that solves individual tasks of a planner. */
export const SOLVER = "solver";

/** Name of a role that every card protocol includes. */
export type CoreRole = typeof CONTROLLER | typeof PLANNER | typeof SOLVER;

/** A route: the types of message cards that the role `from` may send to the role `to`. */
export interface CardRoute<Role extends string = string, Type extends string = string> {
  readonly from: Role;
  readonly to: Role;
  readonly types: readonly Type[];
}

/** Routes for message cards between controller, planner, and solver. */
const CORE_CARD_ROUTES: readonly CardRoute[] = [
  { from: CONTROLLER, to: PLANNER, types: ["task", "control"] },
  { from: PLANNER, to: SOLVER, types: ["task", "query", "control"] },
  { from: SOLVER, to: PLANNER, types: ["result", "query", "error"] },
  // A role that has sent a query receives a result as the answer.
  { from: CONTROLLER, to: PLANNER, types: ["result"] },
  { from: PLANNER, to: SOLVER, types: ["result"] },
  { from: PLANNER, to: CONTROLLER, types: ["result", "query", "error"] },
];

type CoreCardType = (typeof CORE_CARD_TYPES)[number];

/** Options of `createCardProtocol`. */
export interface CardProtocolOptions<Type extends CardType = never, Role extends string = never> {
  /** Types of message cards in addition to the five core types. */
  readonly types?: readonly Type[];
  /** Roles in addition to `controller`, `planner`, and `solver`. */
  readonly roles?: readonly Role[];
  /** Routes for message cards in addition to the routes of the core protocol. */
  readonly routes?: readonly CardRoute<
    CoreRole | NoInfer<Role>,
    CoreCardType["name"] | NoInfer<Type>["name"]
  >[];
  /** Returns the current time in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
  /** Returns a `card_id` for a new message card, by default a random UUID. */
  readonly newId?: () => string;
}

const assertKnownOptions = defineOptionNames<CardProtocolOptions<CardType, string>>()(
  "createCardProtocol",
  "newId now roles routes types",
);

/**
 * TypeScript type of message cards whose card type is registered. For several card types, the TypeScript type
 * is a union discriminated by `message_type`.
 */
export type CardOfType<Type extends CardType> =
  Type extends CardType<infer Name, infer Own> ? MessageCard<Name, Own> : never;

interface CardRolesAndMetadata<Role extends string> {
  readonly from: Role;
  readonly to: Role;
  /** Additional metadata of the message card. A `card_id` in the metadata replaces the generated ID. */
  readonly metadata?: CardMetadata;
}

/**
 * A card protocol, which creates and parses message cards of registered types and roles. A card protocol
 * returns only valid message cards.
 */
export interface CardProtocol<Type extends CardType = CoreCardType, Role extends string = CoreRole> {
  readonly types: readonly Type[];
  readonly roles: readonly Role[];
  readonly routes: readonly CardRoute[];

  createTaskCard(
    card: CardRolesAndMetadata<Role> & { readonly task: string; readonly context?: JsonObject },
  ): TaskCard;
  /** Creates a result card with the status `success` by default. */
  createResultCard(
    card: CardRolesAndMetadata<Role> & { readonly result: string; readonly status?: ResultCardStatus },
  ): ResultCard;
  createQueryCard(
    card: CardRolesAndMetadata<Role> & { readonly query: string; readonly options?: readonly string[] },
  ): QueryCard;
  createControlCard(
    card: CardRolesAndMetadata<Role> & { readonly action: string; readonly parameters?: JsonObject },
  ): ControlCard;
  createErrorCard(
    card: CardRolesAndMetadata<Role> & {
      readonly error: string;
      readonly errorType: ErrorCardMetadata["error_type"];
    },
  ): ErrorCard;
  /** Creates a message card of any registered type. */
  createCard<Name extends Type["name"]>(
    type: Name,
    card: Omit<CardRolesAndMetadata<Role>, "metadata"> & {
      readonly content: string;
      readonly metadata: CardOfType<Extract<Type, { readonly name: Name }>>["metadata"];
    },
  ): CardOfType<Extract<Type, { readonly name: Name }>>;

  /**
   * Parses a message card whose type, roles, and route are registered. Throws INVALID_PARAMS with every
   * violation if the message card is invalid.
   */
  parse(json: unknown): CardOfType<Type>;
  /** Parses a message card from JSON text. See `parse`. */
  fromJson(text: string): CardOfType<Type>;
  /**
   * Returns all violations that would make `parse` reject the message card. For a valid message card,
   * `validate` returns an empty array.
   */
  validate(json: unknown): FieldViolation[];
}

/**
 * Creates a card protocol with the three core roles, the five core card types, and your additions. The
 * TypeScript compiler rejects unregistered roles and card types. For message cards with unregistered roles or
 * types, `parse` throws an error that lists the registered roles or types.
 */
export function createCardProtocol<const Type extends CardType = never, const Role extends string = never>(
  options: CardProtocolOptions<Type, Role> = {},
): CardProtocol<CoreCardType | Type, CoreRole | Role> {
  assertKnownOptions(options);
  const { now = Date.now, newId = () => crypto.randomUUID() } = options;
  const types = assertDistinctCardTypes<CoreCardType | Type>([...CORE_CARD_TYPES, ...(options.types ?? [])]);
  const roles: (CoreRole | Role)[] = [CONTROLLER, PLANNER, SOLVER, ...(options.roles ?? [])];
  const routes: CardRoute[] = [...CORE_CARD_ROUTES, ...(options.routes ?? [])];
  const byName = new Map<string, CardType>(types.map((type) => [type.name, type]));

  const read = (json: unknown, at: ValidationContext): CardOfType<CoreCardType | Type> | undefined => {
    const card = parseCardCollectingViolations(json, at);
    if (!card) return undefined;
    const { message_type, metadata } = card;
    for (const end of ["sender", "recipient"] as const) {
      if (!(roles as string[]).includes(card[end])) {
        at.withPathSegment(end, () =>
          at.addViolation(`${card[end]} is not a role; the roles are ${roles.join(", ")}`),
        );
      }
    }
    const type = byName.get(message_type);
    if (type) at.withPathSegment("metadata", () => void type.isValidMetadata(metadata, at));
    else {
      const known = [...byName.keys()].join(", ");
      at.withPathSegment("message_type", () =>
        at.addViolation(`${message_type} is not a card type; the types are ${known}`),
      );
    }
    if (at.violations.length === 0) validateCardRoute(card, routes, at);
    return card as CardOfType<CoreCardType | Type>;
  };

  const parse = (json: unknown): CardOfType<CoreCardType | Type> => {
    const at = new ValidationContext();
    const card = read(json, at);
    if (card === undefined || at.violations.length > 0) throw A2AError.invalidParams(at.violations);
    return card;
  };

  const make = (
    type: string,
    { from, to, metadata }: CardRolesAndMetadata<string>,
    content: string,
    own: object,
  ): unknown =>
    parse({
      sender: from,
      recipient: to,
      message_type: type,
      content,
      metadata: { card_id: newId(), ...metadata, ...own },
      timestamp: new Date(now()).toISOString(),
    });

  // `parse` ensures that each card has the type that the assertion states.
  return {
    types,
    roles,
    routes,
    createTaskCard: (card) =>
      make("task", card, card.task, card.context ? { context: card.context } : {}) as TaskCard,
    createResultCard: (card) =>
      make("result", card, card.result, { status: card.status ?? "success" }) as ResultCard,
    createQueryCard: (card) =>
      make("query", card, card.query, card.options ? { options: [...card.options] } : {}) as QueryCard,
    createControlCard: (card) =>
      make(
        "control",
        card,
        card.action,
        card.parameters ? { parameters: card.parameters } : {},
      ) as ControlCard,
    createErrorCard: (card) => make("error", card, card.error, { error_type: card.errorType }) as ErrorCard,
    createCard: (type, card) =>
      make(type, card, card.content, {}) as CardOfType<
        Extract<CoreCardType | Type, { readonly name: typeof type }>
      >,
    parse,
    fromJson: (text) => parse(parseJsonText(text)),
    validate(json) {
      const at = new ValidationContext();
      read(json, at);
      return at.violations;
    },
  };
}

function validateCardRoute(
  { sender, recipient, message_type }: MessageCard,
  routes: readonly CardRoute[],
  at: ValidationContext,
): void {
  const between = routes.filter(({ from, to }) => from === sender && to === recipient);
  const allowed = between.flatMap(({ types }) => types);
  if (allowed.includes(message_type)) return;
  at.withPathSegment("message_type", () => {
    const allowedTypes = allowed.join(", ") || "nothing";
    at.addViolation(
      `${sender} must not send ${message_type} to ${recipient} (allowed: ${allowedTypes}); add a route to allow it`,
    );
  });
}

/** Throws if two card types have the same name, because message cards of that type would be ambiguous. */
function assertDistinctCardTypes<Type extends CardType>(types: readonly Type[]): readonly Type[] {
  const names = types.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice === undefined) return types;
  throw new Error(`The card type ${twice} is defined twice. Rename one of the two types.`);
}
