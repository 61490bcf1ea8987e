import { createMalformedDataError, DataRecord } from "./data-record.ts";

/** Parses a CSV file with a header line (RFC 4180). Quoted fields may contain commas and line breaks. */
export function parseCsv(text: string, file: string): DataRecord[] {
  const [header, ...rows] = splitCsvRows(text.replace(/^\uFEFF/, ""), file);
  return rows.map((row, index) => {
    const where = `${file}, record ${index + 1}`;
    if (row.length !== header?.length)
      throw createMalformedDataError(
        where,
        `${row.length} fields, but the header has ${header?.length ?? 0}`,
      );
    return new DataRecord(Object.fromEntries(header.map((name, at) => [name.trim(), row[at]])), where);
  });
}

function splitCsvRows(text: string, file: string): string[][] {
  const rows: string[][] = [[]];
  const field = /"((?:[^"]|"")*)"|([^",\r\n]*)/y;
  let at = 0;
  while (at < text.length) {
    field.lastIndex = at;
    const [whole = "", quoted, plain = ""] = field.exec(text) ?? [];
    rows.at(-1)?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    at += whole.length;
    const [separator = ""] = /^(?:,|\r?\n|$)/.exec(text.slice(at, at + 2)) ?? ["?"];
    if (separator === "?")
      throw createMalformedDataError(file, `row ${rows.length} has a quotation mark inside a field`);
    at += separator.length;
    if (separator !== "," && at < text.length) rows.push([]);
    // A comma at the end of the text precedes an empty field.
    if (separator === "," && at === text.length) rows.at(-1)?.push("");
  }
  return rows.filter((row) => row.length > 1 || row[0] !== "");
}
