import { nat, type Arbitrary } from "fast-check";

const FIRST_SURROGATE = 0xd800;
const SURROGATE_COUNT = 0x800;
const LAST_CODE_POINT = 0x10_ffff;

/**
 * Any Unicode character, for `fc.string({ unit: arbitraryCharacter })`. The unit `"binary"` of fast-check has the same
 * characters. Its tables take one second of CPU time in each test file.
 */
export const arbitraryCharacter: Arbitrary<string> = nat(LAST_CODE_POINT - SURROGATE_COUNT).map(
  (index) => String.fromCodePoint(index < FIRST_SURROGATE ? index : index + SURROGATE_COUNT),
  toIndex,
);

/** Lets fast-check add its examples of dangerous strings, such as `__proto__`. */
function toIndex(character: unknown): number {
  const codePoint = typeof character === "string" ? character.codePointAt(0) : undefined;
  if (codePoint === undefined || String.fromCodePoint(codePoint) !== character)
    throw new TypeError("Not one character");
  return codePoint < FIRST_SURROGATE ? codePoint : codePoint - SURROGATE_COUNT;
}
