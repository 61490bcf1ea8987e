/**
 * Runs the official compatibility kit (a2aproject/a2a-tck, branch 1.0-dev) against the agent under test, in both
 * revisions of A2A 1.0, and compares what fails with test/tck/expected-failures.json. A failure that is not expected
 * fails the run, and so does an expected one that does not happen.
 *
 *   npm run tck -- --tck PATH [--python PATH] [--store memory|sqlite:FILE]
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const REVISIONS = ["1.0.0", "1.0.1"] as const;
type Revision = (typeof REVISIONS)[number];

interface ExpectedFailure {
  /** As in `http_json/test_http_status.py::TestHttpJsonStatusCodes::test_task_not_found_returns_404`. */
  readonly test: string;
  readonly revisions: readonly Revision[];
  readonly reason: string;
}

const root = fileURLToPath(new URL("..", import.meta.url));
const { values } = parseArgs({
  options: {
    tck: { type: "string" },
    python: { type: "string" },
    store: { type: "string", default: "memory" },
  },
});

const kit = values.tck === undefined ? undefined : resolve(values.tck);
if (kit === undefined || !existsSync(join(kit, "tests/compatibility"))) {
  fail(
    "Get the kit with `git clone -b 1.0-dev https://github.com/a2aproject/a2a-tck`, then `npm run tck -- --tck a2a-tck`.",
  );
}
const python = values.python ?? findPython(kit);
if (!(await runs(python, ["-c", "import pytest, httpx, grpc, jsonschema, jinja2, gherkin"]))) {
  fail(
    `The kit needs Python 3.11 or newer with its packages: \`cd ${kit} && python3 -m venv .venv && .venv/bin/pip install -e .\`, or name a Python with --python.`,
  );
}

const expected = JSON.parse(
  readFileSync(join(root, "test/tck/expected-failures.json"), "utf8"),
) as ExpectedFailure[];
let surprises = 0;
for (const revision of REVISIONS) surprises += await runKit(kit, revision);
process.exit(surprises === 0 ? 0 : 1);

/** Runs the kit in one revision and says what came out; answers how many outcomes were not expected. */
async function runKit(tck: string, revision: Revision): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-tck-"));
  const sut = spawn(
    process.execPath,
    ["test/sut/main.ts", "--port", "0", "--store", values.store, "--spec-revision", revision],
    { cwd: root, stdio: ["ignore", "pipe", "inherit"] },
  );
  try {
    const url = await urlOf(sut);
    console.log(
      `A2A TCK against ${url} (spec revision ${revision}, JSON-RPC and HTTP+JSON), about a minute …`,
    );
    const report = join(folder, "junit.xml");
    const pytest = spawn(
      python,
      [
        "-m",
        "pytest",
        "tests/compatibility",
        "-p",
        "no:cacheprovider",
        `--sut-host=${url}`,
        "--transport=jsonrpc,http_json",
        `--junit-xml=${report}`,
        `--compatibility-report=${join(folder, "compatibility")}`,
      ],
      { cwd: tck, stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, PYTHONWARNINGS: "ignore" } },
    );
    await once(pytest, "exit");
    return judge(readReport(readFileSync(report, "utf8")), revision);
  } finally {
    sut.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The agent under test prints its URL in the one line that it says. */
async function urlOf(sut: ChildProcess): Promise<string> {
  if (!sut.stdout) throw new Error("the agent under test has no output");
  for await (const line of createInterface({ input: sut.stdout })) {
    const [url] = /http:\S+/.exec(line) ?? [];
    if (url) return url;
  }
  throw new Error("the agent under test ended before it listened");
}

function judge({ passed, skipped, failed }: Report, revision: Revision): number {
  const due = expected.filter(({ revisions }) => revisions.includes(revision));
  const unexpected = [...failed].filter(([test]) => !due.some((known) => known.test === test));
  const stale = due.filter(({ test }) => !failed.has(test));
  for (const { test, reason } of due) if (failed.has(test)) console.log(`  expected: ${test}\n    ${reason}`);
  for (const [test, message] of unexpected) console.log(`  FAILED: ${test}\n    ${message}`);
  for (const { test } of stale) console.log(`  STALE: ${test} is listed as a failure and did not fail`);
  console.log(
    `  ${passed} passed, ${skipped} skipped, ${due.length - stale.length} failed as expected, ${unexpected.length} failed, ${stale.length} stale`,
  );
  return unexpected.length + stale.length;
}

interface Report {
  readonly passed: number;
  readonly skipped: number;
  /** Tests that failed, with what they said. */
  readonly failed: ReadonlyMap<string, string>;
}

/** pytest's JUnit report, of which the element names and attributes that are read here have no nesting of their own. */
function readReport(xml: string): Report {
  const failed = new Map<string, string>();
  let passed = 0;
  let skipped = 0;
  const cases = xml.matchAll(
    /<testcase classname="([^"]*)" name="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g,
  );
  for (const [, classname = "", name = "", inner = ""] of cases) {
    const [, message] = /<(?:failure|error) message="([^"]*)"/.exec(inner) ?? [];
    if (message !== undefined) failed.set(`${fileOf(classname)}::${name}`, plain(message).slice(0, 400));
    else if (inner.includes("<skipped")) skipped++;
    else passed++;
  }
  if (passed === 0) throw new Error("the kit ran no test");
  return { passed, skipped, failed };
}

function plain(xml: string): string {
  const names: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', amp: "&", "#10": " " };
  return xml.replaceAll(/&([^;]+);/g, (entity, name: string) => names[name] ?? entity);
}

/** `tests.compatibility.http_json.test_x.TestY` → `http_json/test_x.py::TestY`. */
function fileOf(classname: string): string {
  const [, folder = "", file = "", group] =
    /^tests\.compatibility\.(\w+)\.(\w+)(?:\.(.+))?$/.exec(classname) ?? [];
  return `${folder}/${file}.py${group === undefined ? "" : `::${group}`}`;
}

function findPython(tck: string): string {
  const own = join(tck, ".venv/bin/python");
  return existsSync(own) ? own : "python3";
}

async function runs(command: string, args: readonly string[]): Promise<boolean> {
  const child = spawn(command, args, { stdio: "ignore" });
  const code = await new Promise((done) => child.once("error", done).once("exit", done));
  return code === 0;
}

function fail(line: string): never {
  console.error(line);
  process.exit(2);
}
