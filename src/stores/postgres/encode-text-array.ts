/** Object id of the type `text`, which is the same in every PostgreSQL database. */
const TEXT_TYPE_OID = 25;
/** Number of dimensions, a flag for NULL elements, type of the elements, length, and first index, in 4 bytes each. */
const HEADER_BYTES = 20;
/** Length that stands for NULL. */
const NULL_LENGTH = -1;

/**
 * Encodes texts as a PostgreSQL array in the binary format. The text format of `pg` escapes each quotation mark of
 * JSON in JavaScript, which takes longer than the rest of a commit.
 */
export function encodeTextArray(texts: readonly (string | null)[]): Buffer {
  const bytes = texts.reduce((sum, text) => sum + 4 + (text === null ? 0 : Buffer.byteLength(text)), 0);
  const array = Buffer.allocUnsafe(HEADER_BYTES + bytes);
  array.writeInt32BE(1, 0);
  array.writeInt32BE(texts.includes(null) ? 1 : 0, 4);
  array.writeInt32BE(TEXT_TYPE_OID, 8);
  array.writeInt32BE(texts.length, 12);
  array.writeInt32BE(1, 16);
  let end = HEADER_BYTES;
  for (const text of texts) {
    const length = text === null ? 0 : array.write(text, end + 4, "utf8");
    array.writeInt32BE(text === null ? NULL_LENGTH : length, end);
    end += 4 + length;
  }
  return array;
}
