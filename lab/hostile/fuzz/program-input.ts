import { readFileSync } from "node:fs";
import { createRandomFromText } from "../seeded-random.ts";
import { HOSTILE_TEXTS } from "./hostile-values.ts";
import { mutateJson, mutateText } from "./mutate-json.ts";
import { drawElement, drawInteger, type RandomSource } from "./random-choice.ts";
import { V1_PARAMS } from "./seed-requests.ts";

/**
 * An input of the command line, in the form of the corpus. `$URL` in the arguments and files is the URL of a server with
 * an echo agent, and `$DONE` and so on are its tasks. File names are relative to a new folder, where the command runs.
 */
export interface CommandInput {
  readonly kind: "command";
  readonly args: readonly string[];
  readonly files: Readonly<Record<string, string>>;
  readonly stdin: string;
}

/** A damaged SQLite store, which a server opens. In the form of the corpus. */
export interface StoreInput {
  readonly kind: "store";
  /** Bytes that replace those of a generated store, by offset. */
  readonly edits: readonly (readonly [offset: number, byte: number])[];
  /** Length to which the file is cut. Default: no cut. */
  readonly length?: number;
}

export type ProgramInput = CommandInput | StoreInput;

const RECORDING = readFileSync(
  new URL("../../../docs/recordings/two-problems.cards.jsonl", import.meta.url),
  "utf8",
);
const CARD = {
  name: "echo",
  description: "Repeats",
  version: "1",
  supportedInterfaces: [
    { url: "https://example.com/a2a", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
  ],
  capabilities: { streaming: true },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "s", name: "S", description: "d", tags: [] }],
  securitySchemes: { key: { apiKeySecurityScheme: { location: "header", name: "x" } } },
  signatures: [{ protected: "eyJhbGciOiJFUzI1NiIsImtpZCI6ImsifQ", signature: "AAAA" }],
};
const KEYS = {
  keys: [
    {
      kty: "EC",
      crv: "P-256",
      kid: "k",
      x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
      y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    },
  ],
};

/** Valid commands, whose arguments the fuzzer changes. */
const COMMANDS: readonly (readonly string[])[] = [
  ["send", "$URL", "hello"],
  ["send", "$URL", "hello", "--stream", "-o", "json"],
  ["send", "$URL", "-", "--metadata", '{"a":1}', "--message-id", "m-1"],
  ["task", "get", "$URL", "$DONE", "--history", "2"],
  ["task", "list", "$URL", "--page-size", "5", "--state", "completed"],
  ["task", "cancel", "$URL", "$WORKING"],
  ["task", "download", "$URL", "$DONE"],
  ["task", "push-config", "list", "$URL", "$WAITING"],
  ["task", "push-config", "create", "$URL", "$WAITING", "--url", "https://example.com/hook"],
  ["card", "get", "$URL"],
  ["card", "validate", "$URL"],
  ["config", "show"],
  ["auth", "new-key", "p"],
  ["completion", "bash"],
  ["help", "task", "get"],
];

/** Commands that read files. */
const FILE_COMMANDS: readonly (readonly [args: readonly string[], files: readonly string[]])[] = [
  [["cards", "show", "run.cards.jsonl"], ["run.cards.jsonl"]],
  [["cards", "stats", "run.cards.jsonl", "-o", "json"], ["run.cards.jsonl"]],
  [["cards", "stats", "run.cards.jsonl"], ["run.cards.jsonl"]],
  [["cards", "html", "run.cards.jsonl", "--out", "run.html"], ["run.cards.jsonl"]],
  [["cards", "compare", "run.cards.jsonl", "run.cards.jsonl"], ["run.cards.jsonl"]],
  [["card", "validate", "./card.json"], ["card.json"]],
  [
    ["card", "verify", "card.json", "--key", "keys.json"],
    ["card.json", "keys.json"],
  ],
  [["config", "show"], [".env"]],
];

/** Returns the command with mutated arguments or input at an index. */
export function createCommandInput(seed: string, index: number): CommandInput {
  const random = createRandomFromText(`${seed}/cli/${index}`);
  const args = mutateArguments(random, drawElement(random, COMMANDS));
  const stdin = random() < 0.5 ? "hello" : drawElement(random, HOSTILE_TEXTS);
  return { kind: "command", args, files: {}, stdin };
}

/** Returns the command with mutated files, or the damaged store, at an index. */
export function createFileInput(seed: string, index: number): ProgramInput {
  const random = createRandomFromText(`${seed}/files/${index}`);
  if (random() < 0.25) return createStoreInput(random);
  const [args, names] = drawElement(random, FILE_COMMANDS);
  const damaged = drawElement(random, names);
  const files = names.map((name) => [name, createFile(random, name, name === damaged)]);
  return { kind: "command", args, files: Object.fromEntries(files), stdin: "" };
}

function mutateArguments(random: RandomSource, args: readonly string[]): string[] {
  const mutated = [...args];
  const count = random() < 0.8 ? 1 : 2;
  for (let done = 0; done < count; done++) {
    const index = drawInteger(random, mutated.length);
    // A process argument cannot contain a null character.
    const text = drawElement(random, HOSTILE_TEXTS).replaceAll("\u0000", "");
    const isOption = mutated[index]?.startsWith("-") === true;
    drawElement(random, [
      () => mutated.splice(index, 1),
      () => mutated.splice(index, 0, text),
      () => mutated.splice(index, 1, isOption ? `${mutated[index]}=${text}` : text),
      () => mutated.push(mutated[index] ?? ""),
      () =>
        mutated.push(
          drawElement(random, [
            "-o",
            "--output",
            "--timeout",
            "--auth",
            "--header",
            "--config",
            "--unknown",
            "--",
          ]),
          text,
        ),
      () => mutated.push("--data", mutateJson(random, V1_PARAMS["SendMessage"])),
    ])();
  }
  return mutated;
}

function createFile(random: RandomSource, name: string, isDamaged: boolean): string {
  if (name === "run.cards.jsonl") return isDamaged ? mutateLines(random, RECORDING) : RECORDING;
  if (name === ".env")
    return mutateText(random, `COLLOQUY_OUTPUT=json\nCOLLOQUY_TIMEOUT=5\nA2A_TOKEN="x y"\n# comment\n`);
  const value = name === "card.json" ? CARD : KEYS;
  return isDamaged ? mutateJson(random, value) : JSON.stringify(value);
}

/** Mutates, removes, or repeats some lines of a recording. */
function mutateLines(random: RandomSource, text: string): string {
  const lines = text.trimEnd().split("\n");
  const count = 1 + drawInteger(random, 3);
  for (let done = 0; done < count; done++) {
    const index = drawInteger(random, lines.length);
    const line = lines[index] ?? "{}";
    drawElement(
      random,
      [
        () => lines.splice(index, 1, mutateJson(random, JSON.parse(line))),
        () => lines.splice(index, 1, mutateText(random, line)),
        () => lines.splice(index, 1),
        () => lines.splice(index, 0, line),
        () => lines.splice(index, 0, drawElement(random, HOSTILE_TEXTS)),
      ].slice(isJson(line) ? 0 : 1),
    )();
  }
  return lines.join("\n");
}

function createStoreInput(random: RandomSource): StoreInput {
  const edits = Array.from({ length: 1 + drawInteger(random, 5) }, (): [number, number] => [
    // Some edits change the header and the schema.
    drawInteger(random, random() < 0.2 ? 4096 : 100_000),
    drawInteger(random, 256),
  ]);
  return { kind: "store", edits, ...(random() < 0.2 ? { length: drawInteger(random, 100_000) } : {}) };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
