import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

export type Level = "must" | "should" | "may";
export type Binding = "jsonrpc" | "rest" | "grpc";
export type JsonMap = Readonly<Record<string, unknown>>;

/** An HTTP request that a test sends exactly as written (ACTS §4.4). */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly body_raw?: string;
}

/** Assertions on the events of a stream (ACTS §7). */
export interface ExpectedStream {
  readonly min_count?: number;
  readonly max_count?: number;
  readonly timeout_ms?: number;
  readonly ordering?: string;
  readonly events?: readonly JsonMap[];
  readonly final_event?: unknown;
  readonly each_event?: unknown;
}

/** An assertion on the result of an earlier step (ACTS §5.5). */
export interface NamedAssertion {
  readonly id?: string;
  readonly description?: string;
  readonly source: string;
  readonly path?: string;
  readonly match?: unknown;
  readonly any?: CollectionMatch;
  readonly all?: CollectionMatch;
  readonly none?: CollectionMatch;
}

export interface CollectionMatch {
  readonly path: string;
  readonly match: unknown;
}

/** One action of a test. Exactly one of `operation`, `raw`, and `client_response` is set. */
export interface Step {
  readonly id: string;
  readonly description?: string;
  readonly operation?: string;
  readonly params?: JsonMap;
  readonly raw?: RawRequest;
  readonly client_response?: { readonly operation: string; readonly wire_payload: unknown };
  readonly expect?: { readonly status?: unknown; readonly headers?: unknown; readonly body?: unknown };
  readonly expect_error?: JsonMap;
  readonly expect_stream?: ExpectedStream;
  readonly expect_parsed?: unknown;
  readonly capture?: Readonly<Record<string, string>>;
  readonly repeat?: {
    readonly until: string;
    readonly max_attempts?: number;
    readonly delay_ms?: number;
    readonly backoff?: "none" | "linear" | "exponential";
  };
  readonly delay_ms?: number;
  readonly assertions?: readonly NamedAssertion[];
}

export interface Preconditions {
  readonly capabilities?: JsonMap;
  readonly authentication?: boolean;
  readonly skills?: readonly { readonly id: string }[];
  readonly transport?: readonly Binding[];
  readonly extensions?: readonly string[];
  readonly description?: string;
}

/** A test, with its suite and the variables of its document. */
export interface ActsTest {
  readonly id: string;
  readonly name: string;
  readonly suite: { readonly id: string; readonly name: string };
  readonly variables: JsonMap;
  readonly description?: string;
  readonly spec_ref?: string;
  readonly level: Level;
  readonly tags?: readonly string[];
  readonly transport?: readonly Binding[];
  readonly preconditions?: Preconditions;
  readonly requires_behaviors?: readonly string[];
  readonly runner_requirements?: readonly string[];
  readonly steps: readonly Step[];
  readonly assertions?: readonly NamedAssertion[];
}

export interface Corpus {
  readonly actsVersion: string;
  readonly specVersion: string;
  readonly tests: readonly ActsTest[];
}

/** The corpus cannot be read, or uses a construct that this runner does not know. */
export class CorpusError extends Error {
  override readonly name = "CorpusError";
}

/** Allowed members by object, as in the grammar of ACTS (appendix A). A `!` marks required members. */
const MEMBERS = {
  document: "acts_version! spec_version! spec_ref metadata variables include suites",
  suite: "id! name! description tags tests!",
  test:
    "id! name! description spec_ref level! tags transport preconditions requires_behaviors origin " +
    "runner_requirements steps! assertions",
  preconditions: "capabilities authentication skills transport extensions description",
  step:
    "id! description operation params raw client_response expect expect_error expect_stream expect_parsed " +
    "capture repeat delay_ms assertions",
  raw: "method! path! headers body body_raw",
  client_response: "operation! wire_payload!",
  expect: "status headers body",
  expect_error: "error_type message details",
  expect_stream: "min_count max_count timeout_ms ordering events final_event each_event",
  repeat: "until! max_attempts delay_ms backoff",
  assertion: "id description source! path match any all none",
  "collection match": "path! match!",
} as const;

const LEVELS: readonly string[] = ["must", "should", "may"];
const BINDINGS: readonly string[] = ["jsonrpc", "rest", "grpc"];

/** Parses YAML, with the core schema. The caller passes it, because the package bundles it with the command line. */
export type ParseYaml = (text: string) => unknown;

/** Reads a manifest and the documents that it includes. The official one is acts/suites/suite.acts.yaml. */
export async function loadCorpus(parseYaml: ParseYaml, manifest: URL): Promise<Corpus> {
  const read = async (url: URL): Promise<Document> => {
    const file = fileURLToPath(url);
    return parseDocument(parseYaml(await readText(file)), file);
  };
  const root = await read(manifest);
  const included = await Promise.all(root.include.map((name) => read(new URL(name, manifest))));
  const tests = [root, ...included].flatMap((document) =>
    document.tests.map((test) => ({ ...test, variables: { ...root.variables, ...test.variables } })),
  );
  const ids = tests.map(({ id }) => id);
  const repeated = ids.find((id, at) => ids.indexOf(id) !== at);
  if (repeated !== undefined) throw new CorpusError(`Two tests have the id ${repeated}.`);
  if (tests.length === 0) throw new CorpusError(`${manifest.href} contains no tests.`);
  return { actsVersion: root.actsVersion, specVersion: root.specVersion, tests };
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new CorpusError(`Cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

interface Document extends Corpus {
  readonly include: readonly string[];
  readonly variables: JsonMap;
}

/** Parses one document and rejects members that the grammar does not have. */
export function parseDocument(content: unknown, file: string): Document {
  const document = checkMembers("document", content, file);
  const actsVersion = String(document["acts_version"]);
  if (!/^1(\.|$)/.test(actsVersion))
    throw new CorpusError(`${file} has ACTS version ${actsVersion}; this runner reads version 1.`);
  const variables = (document["variables"] ?? {}) as JsonMap;
  const tests = toList(document["suites"]).flatMap((value) => {
    const suite = checkMembers("suite", value, file);
    return toList(suite["tests"]).map((test): ActsTest => {
      checkTest(test, file);
      return { ...(test as unknown as ActsTest), suite: suite as unknown as ActsTest["suite"], variables };
    });
  });
  const include = toList(document["include"]).map(String);
  return { actsVersion, specVersion: String(document["spec_version"]), variables, include, tests };
}

function checkTest(value: unknown, file: string): asserts value is JsonMap {
  const test = checkMembers("test", value, file);
  const where = `${file}, ${String(test["id"])}`;
  if (!LEVELS.includes(String(test["level"]))) throw new CorpusError(`${where}: unknown level.`);
  const unknownBinding = toList(test["transport"]).find((name) => !BINDINGS.includes(name as string));
  if (unknownBinding !== undefined)
    throw new CorpusError(`${where}: unknown transport ${JSON.stringify(unknownBinding)}.`);
  if (test["preconditions"]) checkMembers("preconditions", test["preconditions"], where);
  checkAssertions(test["assertions"], where);
  for (const value of toList(test["steps"])) {
    const step = checkMembers("step", value, where);
    const stepWhere = `${where}, step ${String(step["id"])}`;
    const kinds = ["operation", "raw", "client_response"].filter((kind) => step[kind] !== undefined);
    if (kinds.length !== 1)
      throw new CorpusError(`${stepWhere}: set one of operation, raw, and client_response.`);
    for (const part of [
      "raw",
      "client_response",
      "expect",
      "expect_error",
      "expect_stream",
      "repeat",
    ] as const)
      if (step[part] !== undefined) checkMembers(part, step[part], stepWhere);
    checkAssertions(step["assertions"], stepWhere);
  }
}

function checkAssertions(list: unknown, where: string): void {
  for (const value of toList(list)) {
    const assertion = checkMembers("assertion", value, where);
    const checks = (["match", "any", "all", "none"] as const).filter((kind) => assertion[kind] !== undefined);
    if (checks.length !== 1)
      throw new CorpusError(`${where}: an assertion needs one of match, any, all, none.`);
    for (const kind of ["any", "all", "none"] as const)
      if (assertion[kind] !== undefined) checkMembers("collection match", assertion[kind], where);
  }
}

function checkMembers(name: keyof typeof MEMBERS, value: unknown, where: string): JsonMap {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new CorpusError(`${where}: ${name} is not a map.`);
  const rules = MEMBERS[name].split(" ");
  const known = new Set(rules.map((rule) => rule.replace("!", "")));
  const unknown = Object.keys(value).find((key) => !known.has(key));
  if (unknown !== undefined) throw new CorpusError(`${where}: unknown member ${unknown} of ${name}.`);
  const missing = rules.find((rule) => rule.endsWith("!") && !(rule.slice(0, -1) in value));
  if (missing !== undefined) throw new CorpusError(`${where}: ${name} lacks ${missing.slice(0, -1)}.`);
  return value as JsonMap;
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns whether a test is graded on a binding (ACTS §12.3). */
export function appliesTo({ transport }: ActsTest, binding: Binding): boolean {
  return transport === undefined || transport.includes(binding);
}
