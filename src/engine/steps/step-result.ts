/** Maximum length of a step's result, in characters of JSON. */
const MAX_RESULT_LENGTH = 8 * 2 ** 20;

/**
 * Encodes the result of a step as the JSON text that the store keeps. Throws an error if a later attempt would receive
 * another value than the first attempt, or if the result is too large.
 */
export function encodeStepResult(key: string, result: unknown): string {
  const json = stringifyResult(key, result);
  const problem = findNonJsonValue(result, "result");
  if (problem) throw createNonJsonResultError(key, problem);
  if (json.length <= MAX_RESULT_LENGTH) return json;
  throw new RangeError(
    `The result of step ${JSON.stringify(key)} has ${json.length} characters of JSON; the limit is ${MAX_RESULT_LENGTH}. Store the data elsewhere, and return its address.`,
  );
}

export function decodeStepResult(json: string): unknown {
  return (JSON.parse(json) as { result?: unknown }).result;
}

function stringifyResult(key: string, result: unknown): string {
  try {
    return JSON.stringify({ result });
  } catch (error) {
    // Cyclic objects, and values of type bigint.
    throw createNonJsonResultError(key, error instanceof Error ? error.message : String(error));
  }
}

function createNonJsonResultError(key: string, problem: string): TypeError {
  return new TypeError(
    `The result of step ${JSON.stringify(key)} is not JSON: ${problem}. Return only strings, numbers, booleans, null, arrays, and plain objects.`,
  );
}

/** Returns a description of the first value that JSON changes, or `undefined`. Members with `undefined` are allowed. */
function findNonJsonValue(value: unknown, path: string): string | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : `${path} is ${value}`;
  if (value === undefined) return path.endsWith("]") ? `${path} is undefined` : undefined;
  if (typeof value !== "object") return `${path} is of type ${typeof value}`;
  if (!Array.isArray(value) && !isPlainObject(value))
    return `${path} is an instance of ${value.constructor.name}`;
  for (const [name, member] of Object.entries(value)) {
    const problem = findNonJsonValue(member, Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`);
    if (problem) return problem;
  }
  return undefined;
}

/** Returns true for objects of every realm that have no class. */
function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
