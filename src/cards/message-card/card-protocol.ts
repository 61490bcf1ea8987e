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
import { parseJson, parseCardInContext } from "./parse-card.ts";
import { ValidationContext } from "./validation/validation-context.ts";

export const CONTROLLER = "controller";
export const PLANNER = "planner";
export const SOLVER = "solver";

/** The roles that every protocol has. */
export type CoreRole = typeof CONTROLLER | typeof PLANNER | typeof SOLVER;

/** Who may send whom what. */
export interface CardRoute<Role extends string = string, Type extends string = string> {
  readonly from: Role;
  readonly to: Role;
  readonly types: readonly Type[];
}

/** The ways between the three roles. */
export const CORE_CARD_ROUTES: readonly CardRoute[] = [
  { from: CONTROLLER, to: PLANNER, types: ["task", "control"] },
  { from: PLANNER, to: SOLVER, types: ["task", "query", "control"] },
  { from: SOLVER, to: PLANNER, types: ["result", "query", "error"] },
  // A planner that has asked is answered by a result.
  { from: CONTROLLER, to: PLANNER, types: ["result"] },
  { from: PLANNER, to: SOLVER, types: ["result"] },
  { from: PLANNER, to: CONTROLLER, types: ["result", "query", "error"] },
];

type CoreCardType = (typeof CORE_CARD_TYPES)[number];

/** What is added to the core, and what a protocol takes from the world. */
export interface CardProtocolOptions<Type extends CardType = never, Role extends string = never> {
  readonly types?: readonly Type[];
  readonly roles?: readonly Role[];
  readonly routes?: readonly CardRoute<
    CoreRole | NoInfer<Role>,
    CoreCardType["name"] | NoInfer<Type>["name"]
  >[];
  /** The time, in milliseconds since 1970. Default: the system's. */
  readonly now?: () => number;
  /** A new `card_id`. Default: a random UUID. */
  readonly newId?: () => string;
}

/** The card of a registered type; of all of them, told apart by `message_type`. */
export type CardOfType<Type extends CardType> =
  Type extends CardType<infer Name, infer Own> ? MessageCard<Name, Own> : never;

interface CardAddress<Role extends string> {
  readonly from: Role;
  readonly to: Role;
  /** Anything else that there is to say. A `card_id` here is the card's. */
  readonly metadata?: CardMetadata;
}

/** Makes and reads cards of the types and roles that it knows. Every card that comes out is valid. */
export interface CardProtocol<Type extends CardType = CoreCardType, Role extends string = CoreRole> {
  readonly types: readonly Type[];
  readonly roles: readonly Role[];
  readonly routes: readonly CardRoute[];

  createTaskCard(
    card: CardAddress<Role> & { readonly task: string; readonly context?: JsonObject },
  ): TaskCard;
  /** The status is `success`, if no other is given. */
  createResultCard(
    card: CardAddress<Role> & { readonly result: string; readonly status?: ResultCardStatus },
  ): ResultCard;
  createQueryCard(
    card: CardAddress<Role> & { readonly query: string; readonly options?: readonly string[] },
  ): QueryCard;
  createControlCard(
    card: CardAddress<Role> & { readonly action: string; readonly parameters?: JsonObject },
  ): ControlCard;
  createErrorCard(
    card: CardAddress<Role> & { readonly error: string; readonly errorType: ErrorCardMetadata["error_type"] },
  ): ErrorCard;
  /** A card of any registered type. */
  createCard<Name extends Type["name"]>(
    type: Name,
    card: Omit<CardAddress<Role>, "metadata"> & {
      readonly content: string;
      readonly metadata: CardOfType<Extract<Type, { readonly name: Name }>>["metadata"];
    },
  ): CardOfType<Extract<Type, { readonly name: Name }>>;

  /** A card of a registered type on a known route, from JSON. Throws INVALID_PARAMS with every violation. */
  parse(json: unknown): CardOfType<Type>;
  /** `parse` of a text. */
  fromJson(text: string): CardOfType<Type>;
  /** Everything that `parse` would refuse; empty when nothing is wrong. */
  validate(json: unknown): FieldViolation[];
}

/**
 * The protocol of the three roles and five types, and of those that you add. A role or a type that nobody registered is
 * refused by the compiler and, when it arrives from outside, by name.
 */
export function createCardProtocol<const Type extends CardType = never, const Role extends string = never>(
  options: CardProtocolOptions<Type, Role> = {},
): CardProtocol<CoreCardType | Type, CoreRole | Role> {
  const { now = Date.now, newId = () => crypto.randomUUID() } = options;
  const types = assertDistinctCardTypes<CoreCardType | Type>([...CORE_CARD_TYPES, ...(options.types ?? [])]);
  const roles: (CoreRole | Role)[] = [CONTROLLER, PLANNER, SOLVER, ...(options.roles ?? [])];
  const routes: CardRoute[] = [...CORE_CARD_ROUTES, ...(options.routes ?? [])];
  const byName = new Map<string, CardType>(types.map((type) => [type.name, type]));

  const read = (json: unknown, at: ValidationContext): CardOfType<CoreCardType | Type> | undefined => {
    const card = parseCardInContext(json, at);
    if (!card) return undefined;
    const { message_type, metadata } = card;
    for (const end of ["sender", "recipient"] as const) {
      if (!(roles as string[]).includes(card[end])) {
        at.withPathSegment(end, () =>
          at.addViolation(`${card[end]} is no role; there are ${roles.join(", ")}`),
        );
      }
    }
    const type = byName.get(message_type);
    if (type) at.withPathSegment("metadata", () => void type.isValidMetadata(metadata, at));
    else {
      const known = [...byName.keys()].join(", ");
      at.withPathSegment("message_type", () =>
        at.addViolation(`${message_type} is no type of card; there are ${known}`),
      );
    }
    if (at.violations.length === 0) validateRoute(card, routes, at);
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
    { from, to, metadata }: CardAddress<string>,
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

  // `parse` sees to it that each is what it is called.
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
    fromJson: (text) => parse(parseJson(text)),
    validate(json) {
      const at = new ValidationContext();
      read(json, at);
      return at.violations;
    },
  };
}

function validateRoute(
  { sender, recipient, message_type }: MessageCard,
  routes: readonly CardRoute[],
  at: ValidationContext,
): void {
  const between = routes.filter(({ from, to }) => from === sender && to === recipient);
  const allowed = between.flatMap(({ types }) => types);
  if (allowed.includes(message_type)) return;
  at.withPathSegment("message_type", () => {
    const ways = allowed.length === 0 ? "sends it nothing" : `sends it only ${allowed.join(", ")}`;
    at.addViolation(
      `no ${message_type} goes from ${sender} to ${recipient}: the one ${ways}; add a route if it should`,
    );
  });
}

/** Two types of one name would make a card mean two things. */
function assertDistinctCardTypes<Type extends CardType>(types: readonly Type[]): readonly Type[] {
  const names = types.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice === undefined) return types;
  throw new Error(`The type of card ${twice} is there twice; give one of the two another name.`);
}
