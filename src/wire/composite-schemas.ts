import { isObject } from "../protocol/index.ts";
import { type DecodingContext, type DecodingSchema, formatJsonValue } from "./proto-json-schema.ts";

/** Maximum number of elements in a list of a request, such as the parts of a message. */
const MAX_REQUEST_LIST_LENGTH = 1_000;

/** Creates a schema for a repeated field, which has at most 1,000 elements in a request. */
export function createListSchema<T>(schema: DecodingSchema<T>): DecodingSchema<T[]> {
  return {
    emptyValue: [],
    decode(json, at): T[] | undefined {
      if (!Array.isArray(json)) return at.addViolation(`must be an array, not ${formatJsonValue(json)}`);
      if (at.isStrict && json.length > MAX_REQUEST_LIST_LENGTH)
        return at.addViolation(`has ${json.length} elements; send at most ${MAX_REQUEST_LIST_LENGTH}`);
      const out: T[] = [];
      for (let index = 0; index < json.length; index++) {
        at.pushPath(index);
        const item: unknown = json[index];
        if (item === null && !schema.isNullable) at.addViolation("must not be null; leave the element out");
        else {
          const value = schema.decode(item, at);
          if (value !== undefined) out.push(value);
        }
        at.popPath();
      }
      return out;
    },
  };
}

/** Creates a schema for a map with string keys. */
export function createMapSchema<T>(schema: DecodingSchema<T>): DecodingSchema<Record<string, T>> {
  return {
    emptyValue: {},
    isMap: true,
    decode(json, at): Record<string, T> | undefined {
      if (!isObject(json)) return at.addViolation(`must be an object, not ${formatJsonValue(json)}`);
      const entries: [string, T][] = [];
      for (const [key, item] of Object.entries(json)) {
        at.pushPath(key);
        const value =
          item === null ? at.addViolation("must not be null; leave the key out") : schema.decode(item, at);
        if (value !== undefined) entries.push([key, value]);
        at.popPath();
      }
      // Object.fromEntries defines its keys, so "__proto__" becomes a normal key.
      return Object.fromEntries(entries);
    },
  };
}

/**
 * Adds a check to a schema. The check applies only to requests. The function `findViolation` returns the
 * description of a violation, or `undefined` if the value is valid.
 */
export function createCheckedSchema<T>(
  schema: DecodingSchema<T>,
  findViolation: (value: T) => string | undefined,
): DecodingSchema<T> {
  return {
    ...schema,
    decode(json, at): T | undefined {
      const value = schema.decode(json, at);
      if (value === undefined || !at.isStrict) return value;
      const violation = findViolation(value);
      return violation === undefined ? value : at.addViolation(violation);
    },
  };
}

/** Creates a schema that decodes a value with another schema and then converts the value. */
export function createConvertingSchema<A, B>(
  schema: DecodingSchema<A>,
  convert: (value: A, at: DecodingContext) => B | undefined,
): DecodingSchema<B> {
  return {
    decode(json, at): B | undefined {
      const { refusalCount: refusalsBefore } = at;
      const value = schema.decode(json, at);
      if (value === undefined) return undefined;
      // The output of a rejected request is never used.
      return at.refusalCount > refusalsBefore ? (value as unknown as B) : convert(value, at);
    },
  };
}

/** Creates a schema that validates a member and discards its value. */
export function createValidateOnlySchema(schema: DecodingSchema<unknown>): DecodingSchema<never> {
  return {
    decode(json, at): undefined {
      schema.decode(json, at);
    },
  };
}
