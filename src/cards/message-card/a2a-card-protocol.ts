import type { FieldViolation } from "../../protocol/index.ts";
import type { CardType } from "./card-type.ts";
import {
  type CardProtocol,
  type CardRoute,
  CONTROLLER,
  createCardProtocol,
  PLANNER,
  SOLVER,
} from "./card-protocol.ts";
import type {
  CardMetadata,
  ControlCard,
  ErrorCard,
  MessageCard,
  QueryCard,
  ResultCard,
  TaskCard,
} from "./message-card.ts";

type CoreTypes = CardProtocol["types"];
type AnyProtocol = CardProtocol<CardType, string>;
type FactoryName = `create${"Task" | "Result" | "Query" | "Control" | "Error"}Card`;

/** Roles of a class: the values of its static members whose names are in upper case. */
type RoleOf<Class> = {
  [Name in keyof Class]: Name extends Uppercase<Name & string> ? Class[Name] : never;
}[keyof Class] &
  string;

/** Parameter of a factory method, with the roles of a class. */
type FactoryInput<Class, Name extends FactoryName> = Parameters<
  CardProtocol<CoreTypes[number], RoleOf<Class>>[Name]
>[0];

/** Creates a message card whose type and roles are checked only at runtime. */
type CreateAnyCard = <Name extends string>(
  type: Name,
  card: {
    readonly from: string;
    readonly to: string;
    readonly content: string;
    readonly metadata: CardMetadata;
  },
) => MessageCard<Name>;

/**
 * The core card protocol as a class with static members, as the card specification defines it. A subclass
 * adds a role with each static member whose name is in upper case:
 *
 * `class ExtendedA2ACardProtocol extends A2ACardProtocol { static VALIDATOR = "validator"; }`
 *
 * By default, an added role may exchange all card types with every role. The static members `addedRoutes` and
 * `addedTypes` of a subclass restrict the routes and add card types. `createCardProtocol` creates a card
 * protocol without a class.
 */
// oxlint-disable-next-line no-extraneous-class -- Subclasses inherit the static members.
export class A2ACardProtocol {
  static readonly CONTROLLER: typeof CONTROLLER = CONTROLLER;
  static readonly PLANNER: typeof PLANNER = PLANNER;
  static readonly SOLVER: typeof SOLVER = SOLVER;

  /** Card types in addition to the five core types. Default: none. */
  static readonly addedTypes: readonly CardType[] = [];
  /**
   * Routes in addition to the routes of the core protocol. Default: all routes from and to the added roles.
   */
  static readonly addedRoutes: readonly CardRoute[] | undefined = undefined;

  static get types(): CoreTypes {
    return resolveClassProtocol(this).types as CoreTypes;
  }
  static get roles(): CardProtocol["roles"] {
    return resolveClassProtocol(this).roles as CardProtocol["roles"];
  }
  static get routes(): readonly CardRoute[] {
    return resolveClassProtocol(this).routes;
  }

  static createTaskCard<Class>(this: Class, card: FactoryInput<Class, "createTaskCard">): TaskCard {
    return resolveClassProtocol(this).createTaskCard(card);
  }
  /** Creates a result card with the status `success` by default. */
  static createResultCard<Class>(this: Class, card: FactoryInput<Class, "createResultCard">): ResultCard {
    return resolveClassProtocol(this).createResultCard(card);
  }
  static createQueryCard<Class>(this: Class, card: FactoryInput<Class, "createQueryCard">): QueryCard {
    return resolveClassProtocol(this).createQueryCard(card);
  }
  static createControlCard<Class>(this: Class, card: FactoryInput<Class, "createControlCard">): ControlCard {
    return resolveClassProtocol(this).createControlCard(card);
  }
  static createErrorCard<Class>(this: Class, card: FactoryInput<Class, "createErrorCard">): ErrorCard {
    return resolveClassProtocol(this).createErrorCard(card);
  }
  /** Creates a message card of any core type or added type. */
  static get createCard(): CreateAnyCard & AnyProtocol["createCard"] {
    const protocol = resolveClassProtocol(this);
    const createCard: CreateAnyCard = (type, card) => protocol.createCard(type, card);
    return createCard as CreateAnyCard & AnyProtocol["createCard"];
  }

  /**
   * Parses a message card whose type, roles, and route are registered. Throws INVALID_PARAMS with every
   * violation if the message card is invalid.
   */
  static parse(json: unknown): ReturnType<CardProtocol["parse"]> {
    return resolveClassProtocol(this).parse(json) as ReturnType<CardProtocol["parse"]>;
  }
  /** Parses a message card from JSON text. See `parse`. */
  static fromJson(text: string): ReturnType<CardProtocol["parse"]> {
    return resolveClassProtocol(this).fromJson(text) as ReturnType<CardProtocol["parse"]>;
  }
  /** Returns all violations that would make `parse` reject the message card. */
  static validate(json: unknown): FieldViolation[] {
    return resolveClassProtocol(this).validate(json);
  }
}

const protocolsByClass = new WeakMap<object, AnyProtocol>();

/** Returns the protocol of a class. A method without its class, such as a callback, uses the core protocol. */
function resolveClassProtocol(owner: unknown): AnyProtocol {
  const protocolClass = typeof owner === "function" ? (owner as typeof A2ACardProtocol) : A2ACardProtocol;
  let protocol = protocolsByClass.get(protocolClass);
  if (!protocol) protocolsByClass.set(protocolClass, (protocol = createClassProtocol(protocolClass)));
  return protocol;
}

function createClassProtocol(protocolClass: typeof A2ACardProtocol): AnyProtocol {
  const { addedTypes: types } = protocolClass;
  const roles = listAddedRoles(protocolClass);
  const everyType = createCardProtocol({ types }).types.map(({ name }) => name);
  const everyRole = [CONTROLLER, PLANNER, SOLVER, ...roles];
  const routes =
    protocolClass.addedRoutes ??
    everyRole.flatMap((from) =>
      everyRole.flatMap((to) =>
        roles.includes(from) || roles.includes(to) ? [{ from, to, types: everyType }] : [],
      ),
    );
  return createCardProtocol({ types, roles, routes });
}

/** Returns the values of the static members in upper case that subclasses define. */
function listAddedRoles(protocolClass: typeof A2ACardProtocol): string[] {
  const roles: string[] = [];
  let current: object | null = protocolClass;
  while (current !== null && current !== A2ACardProtocol) {
    const members = Object.entries(current).filter(
      (member): member is [string, string] =>
        member[0] === member[0].toUpperCase() && typeof member[1] === "string",
    );
    roles.unshift(...members.map(([, role]) => role));
    current = Object.getPrototypeOf(current) as object | null;
  }
  return [...new Set(roles)].filter((role) => role !== CONTROLLER && role !== PLANNER && role !== SOLVER);
}
