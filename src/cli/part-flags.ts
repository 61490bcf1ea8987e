import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import { text } from "node:stream/consumers";
import { Option } from "commander";
import { file, type JsonValue, type Part } from "../protocol/index.ts";
import { type CliError, createUsageError } from "./cli-error.ts";

interface PartFlag {
  kind: "text" | "file" | "data";
  value: string;
  mediaType?: string;
}

const MEDIA_TYPES_BY_EXTENSION: Record<string, string> = {
  ".csv": "text/csv",
  ".gif": "image/gif",
  ".html": "text/html",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".json": "application/json",
  ".md": "text/markdown",
  ".mp3": "audio/mpeg",
  ".mp4": "video/mp4",
  ".pdf": "application/pdf",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain",
  ".wav": "audio/wav",
  ".webp": "image/webp",
  ".xml": "application/xml",
  ".zip": "application/zip",
};

/**
 * Command-line flags that add message parts (a2a-cli SPEC §10.2). Users can repeat part flags in any order,
 * and `--media-type` applies to the preceding flag. All option parsers append to one list, which preserves
 * the command-line order.
 */
export class PartFlags {
  readonly #flags: PartFlag[] = [];

  get hasFlags(): boolean {
    return this.#flags.length > 0;
  }

  createOptions(): Option[] {
    return [
      this.#createOption("text", "--text <string>", "add a text part"),
      this.#createOption(
        "file",
        "--file <path|url>",
        "add a file part: a local file's content, or a URL for the agent to fetch",
      ),
      this.#createOption(
        "data",
        "--data <json|path|->",
        "add a data part: a JSON value, a JSON file, or stdin",
      ),
      new Option("--media-type <type>", "media type of the preceding part").argParser((type: string) => {
        const last = this.#flags.at(-1);
        if (!last) throw createSendUsageError("--media-type needs a --text, --file, or --data before it.");
        last.mediaType = type;
        return type;
      }),
    ];
  }

  /**
   * Builds the message parts. The positional arguments form one text part before all parts from flags. The
   * positional argument `-` reads stdin.
   */
  async buildParts(words: readonly string[], stdin: NodeJS.ReadableStream): Promise<Part[]> {
    const parts: Part[] = [];
    const argumentText = words.join(" ");
    if (argumentText === "-") parts.push({ text: await text(stdin) });
    else if (argumentText !== "") parts.push({ text: argumentText });
    for (const flag of this.#flags) parts.push(await toPart(flag, stdin));
    if (parts.length === 0)
      throw createSendUsageError("There is nothing to send. Pass a text, --text, --file, or --data.");
    return parts;
  }

  #createOption(kind: PartFlag["kind"], flags: string, description: string): Option {
    return new Option(flags, description).argParser((value: string) => {
      this.#flags.push({ kind, value });
      return value;
    });
  }
}

async function toPart({ kind, value, mediaType }: PartFlag, stdin: NodeJS.ReadableStream): Promise<Part> {
  const about = mediaType === undefined ? {} : { mediaType };
  if (kind === "text") return { text: value, ...about };
  if (kind === "data") return { data: parseJson(await readJsonSource(value, stdin), value), ...about };
  if (/^https?:\/\//i.test(value)) {
    const url = URL.parse(value);
    if (!url) throw createSendUsageError(`--file: ${value} is not a valid URL.`);
    return file(url, {
      filename: basename(url.pathname),
      mediaType: mediaType ?? guessMediaType(url.pathname),
    });
  }
  const bytes = await readFile(value).catch((cause: unknown) => {
    throw createSendUsageError(`--file: ${value} cannot be read.`, cause);
  });
  return file(bytes, { filename: basename(value), mediaType: mediaType ?? guessMediaType(value) });
}

async function readJsonSource(value: string, stdin: NodeJS.ReadableStream): Promise<string> {
  if (value === "-") return text(stdin);
  if (/^\s*[[{"]/.test(value)) return value;
  try {
    return readFileSync(value, "utf8");
  } catch (cause) {
    throw createSendUsageError(`--data: ${value} is neither JSON nor a file that can be read.`, cause);
  }
}

function parseJson(json: string, from: string): JsonValue {
  try {
    // Some editors, and PowerShell, begin a file with a byte order mark.
    return JSON.parse(json.replace(/^\uFEFF/, "")) as JsonValue;
  } catch (cause) {
    throw createSendUsageError(
      `--data: ${from === "-" ? "stdin" : from} is not JSON: ${(cause as Error).message}`,
      cause,
    );
  }
}

function guessMediaType(path: string): string {
  return MEDIA_TYPES_BY_EXTENSION[extname(path).toLowerCase()] ?? "application/octet-stream";
}

/** Creates a usage error that refers to the help of `colloquy send`. */
export function createSendUsageError(message: string, cause?: unknown): CliError {
  return createUsageError(message, "colloquy send --help", cause);
}
