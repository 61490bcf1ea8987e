import * as fc from "fast-check";
import { Client } from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { arbitraryCharacter } from "../../../test/support/arbitrary-character.ts";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import { decodeIdentifier, encodeIdentifier } from "./encode-identifier.ts";
import { encodeTextArray } from "./encode-text-array.ts";

const { url, reason } = await findTestDatabase();

/** Texts with NUL characters, escape characters, and halves of surrogate pairs. */
const idArbitrary = fc.string({
  unit: fc.oneof(
    fc.string({ unit: arbitraryCharacter, minLength: 1, maxLength: 1 }),
    fc.constantFrom("\0", "\u0001", "\ud800", "\udc00", "0"),
  ),
});

describe("an id", () => {
  it("is decoded unchanged, and different ids have different encodings", () => {
    fc.assert(
      fc.property(idArbitrary, (id) => {
        expect(decodeIdentifier(encodeIdentifier(id))).toBe(id);
        expect(encodeIdentifier(id)).not.toContain("\0");
        expect(encodeIdentifier(id).isWellFormed()).toBe(true);
      }),
    );
  });
});

describe.skipIf(reason)("a text array", () => {
  const client = reason ? undefined : new Client({ connectionString: url });
  const connected = client?.connect();
  afterAll(() => client?.end());

  it("is read by PostgreSQL as it was encoded", async () => {
    await connected;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(idArbitrary)), async (ids) => {
        const texts = ids.map((id) => (id === null ? null : encodeIdentifier(id)));
        const result = await client?.query("SELECT $1::text[] AS texts", [encodeTextArray(texts)]);
        expect(result?.rows).toEqual([{ texts }]);
      }),
      { numRuns: 50 },
    );
  });
});
