import { A2AError, type FieldViolation } from "../protocol/index.ts";
import { isDeviationAccepted, type LeniencyName, type PeerLeniency } from "./leniency.ts";

/**
 * A decoder for values of one ProtoJSON type. The schema of a protocol version consists of schemas that
 * `object-schema.ts`, `composite-schemas.ts`, and `scalar-schemas.ts` provide. A schema
 * does not throw if the input is invalid. The schema adds every violation with its path to the
 * `DecodingContext`, which the caller checks at the end.
 */
export interface DecodingSchema<T> {
  /**
   * Decodes a JSON value to its normal form. Returns `undefined` if the value is not set or invalid. For
   * an invalid value, the schema also adds a violation.
   */
  decode(json: unknown, at: DecodingContext): T | undefined;
  /**
   * `true` if `null` is a valid value. For all other types, `null` means that the value is not set.
   */
  readonly isNullable?: boolean;
  /** Value of an absent field with this schema. `undefined` if an absent field differs from an empty one. */
  readonly emptyValue?: unknown;
  /** `true` for maps. An empty map counts as missing, but an empty message counts as present. */
  readonly isMap?: boolean;
}

/** Maximum number of violations that an error reports for one request. */
const MAX_VIOLATIONS = 20;
const MAX_PATH_SEGMENT_LENGTH = 100;

/**
 * How strictly the decoder checks its input.
 * - In `strict` mode, which is used for requests, the decoder validates all values.
 * - In `tolerant` mode, which is used for responses, the decoder ignores unknown values, and missing members
 *   get defaults.
 * - The `canonical` mode is like `tolerant` mode, but only required members get defaults. The same card
 *   therefore decodes to the same value, even if different programs wrote the card.
 */
type DecodingMode = "strict" | "tolerant" | "canonical";

/** State of a decoding process: the current path, and all violations found so far. */
export class DecodingContext {
  readonly isStrict: boolean;
  /** `true` if missing optional members get their default value. */
  readonly fillsDefaults: boolean;
  readonly violations: FieldViolation[] = [];
  /** Number of all violations, which may exceed the number of reported violations. */
  refusalCount = 0;
  readonly #rootName: string;
  readonly #leniency: PeerLeniency;
  readonly #path: (string | number)[] = [];

  /** The parameter `root` is the path of the top-level value, for example `params`. */
  constructor(root: string, mode: DecodingMode, leniency: PeerLeniency = "all") {
    this.#rootName = root;
    this.#leniency = leniency;
    this.isStrict = mode === "strict";
    this.fillsDefaults = mode !== "canonical";
  }

  /** Returns whether the decoder accepts a deviation from the specification that real peers have. */
  accepts(name: LeniencyName): boolean {
    return isDeviationAccepted(name, this.#leniency);
  }

  pushPath(step: string | number): void {
    this.#path.push(step);
  }

  popPath(): void {
    this.#path.pop();
  }

  /**
   * Adds a violation at the current path. The description of a violation should explain how to correct the
   * value.
   */
  addViolation(description: string): undefined {
    this.refusalCount++;
    if (this.violations.length < MAX_VIOLATIONS)
      this.violations.push({ field: this.#formatPath(), description });
    return undefined;
  }

  #formatPath(): string {
    let path = "";
    for (const step of this.#path) {
      if (typeof step === "number") path += `[${step}]`;
      // A Struct key can be as long as the request. Truncation keeps the error response small.
      else path += `${path === "" ? "" : "."}${step.slice(0, MAX_PATH_SEGMENT_LENGTH)}`;
    }
    return path === "" ? this.#rootName : path;
  }
}

/** Decodes a complete request in strict mode. Throws an `INVALID_PARAMS` error that lists every violation. */
export function decodeRequestStrictly<T>(
  schema: DecodingSchema<T>,
  json: unknown,
  root: string,
  leniency?: PeerLeniency,
): T {
  const at = new DecodingContext(root, "strict", leniency);
  const value = schema.decode(json, at);
  if (value === undefined || at.violations.length > 0)
    throw A2AError.invalidParams(at.violations, at.refusalCount);
  return value;
}

/**
 * Decodes a response of another agent in tolerant mode. Throws `INVALID_AGENT_RESPONSE` if the response is
 * unusable.
 */
export function decodeResponseTolerantly<T>(
  schema: DecodingSchema<T>,
  json: unknown,
  root: string,
  mode: "tolerant" | "canonical" = "tolerant",
  leniency?: PeerLeniency,
): T {
  const at = new DecodingContext(root, mode, leniency);
  const value = schema.decode(json, at);
  const [first] = at.violations;
  if (value !== undefined && !first) return value;
  const problem = first ? `${first.field} ${first.description}` : `${root} is empty`;
  throw new A2AError("INVALID_AGENT_RESPONSE", `The agent's response is not valid A2A: ${problem}.`, {
    violations: at.violations,
  });
}

/** Formats a JSON value as a short text for error messages. */
export function formatJsonValue(json: unknown): string {
  if (json === null) return "null";
  if (Array.isArray(json)) return "an array";
  if (typeof json === "object") return "an object";
  if (typeof json === "string") return json.length > 40 ? "a long string" : JSON.stringify(json);
  return typeof json === "number" || typeof json === "boolean" ? String(json) : "nothing";
}
