import type { TrafficLine } from "../../../observe/trace/index.ts";
import { parseWellFormedJson } from "./parse-well-formed-json.ts";
import { readBytes } from "./read-bytes.ts";

/** Yields the lines of a JSON Lines response in batches, one per chunk that the network delivers. */
export async function* readJsonLines(response: Response): AsyncGenerator<readonly TrafficLine[]> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of readBytes(response)) {
    const texts = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = texts.pop() ?? "";
    yield texts.filter((text) => text !== "").map((text) => parseWellFormedJson(text) as TrafficLine);
  }
  if (rest !== "") yield [parseWellFormedJson(rest) as TrafficLine];
}
