import { execSync, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const TOKEN = "lambda-token-of-tests";

interface InvocationResult {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Works after the first event, and so longer than a broken or immediate response. */
const WORKING_AGENT = `
import { setTimeout as pause } from "node:timers/promises";
import { agent, status } from "colloquy";
export default agent({ name: "hello", description: "Works" }, async function* () {
  yield status("Working");
  await pause(200);
  yield "Done.";
});`;

/** Builds an event of a function URL in payload format 2.0. */
function buildEvent(method: string, path: string, body?: object): object {
  return {
    version: "2.0",
    rawPath: path,
    rawQueryString: "",
    headers: {
      host: "abc.lambda-url.eu-west-1.on.aws",
      "a2a-version": "1.0",
      "content-type": "application/json",
      authorization: `Bearer ${TOKEN}`,
    },
    requestContext: {
      domainName: "abc.lambda-url.eu-west-1.on.aws",
      http: { method, path, protocol: "HTTP/1.1", sourceIp: "192.0.2.1", userAgent: "test" },
    },
    ...(body === undefined
      ? { isBase64Encoded: false }
      : { body: Buffer.from(JSON.stringify(body)).toString("base64"), isBase64Encoded: true }),
  };
}

const buildMessage = (id: string, configuration: object = {}): object => ({
  message: { messageId: id, role: "ROLE_USER", parts: [{ text: "Ada" }] },
  configuration,
});

/** Runs the handler of `deploy/lambda` in a folder as the guide creates it. */
async function invoke(invocations: readonly object[]): Promise<InvocationResult[]> {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-lambda-"));
  await mkdir(join(folder, "agents"));
  await cp(join(ROOT, "deploy/lambda/handler.mjs"), join(folder, "handler.mjs"));
  await writeFile(join(folder, "agents/hello.ts"), WORKING_AGENT);
  const page = await readFile(join(ROOT, "docs/deploy/README.md"), "utf8");
  const [createManifest = ""] = /npm init .+?(?= && npm install)/.exec(page) ?? [];
  execSync(createManifest, { cwd: folder, stdio: "pipe" });
  const loader = join(ROOT, "test/support/from-source.mjs");
  const driver = join(ROOT, "test/documents/deploy/lambda-driver.mjs");
  const child = spawn(
    process.execPath,
    ["--import", loader, driver, pathToFileURL(join(folder, "handler.mjs")).href],
    {
      cwd: folder,
      env: { ...process.env, DATABASE_URL: "memory", COLLOQUY_TOKEN: TOKEN },
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  child.stdin.end(JSON.stringify(invocations));
  const output = await text(child.stdout);
  return output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as InvocationResult);
}

it("the handler of deploy/lambda streams, and ends an invocation only after the agent", async () => {
  const [card, stream, broken, accepted, list] = await invoke([
    { event: buildEvent("GET", "/.well-known/agent-card.json") },
    { event: buildEvent("POST", "/message:stream", buildMessage("m1")) },
    {
      event: buildEvent("POST", "/message:stream", buildMessage("m2")),
      breaksAfterFirstEvent: true,
    },
    { event: buildEvent("POST", "/message:send", buildMessage("m3", { returnImmediately: true })) },
    { event: buildEvent("GET", "/tasks") },
  ]);
  expect(card?.statusCode).toBe(200);
  expect(card?.body).toContain("https://abc.lambda-url.eu-west-1.on.aws");
  expect(stream?.headers["content-type"]).toBe("text/event-stream");
  expect(stream?.body).toContain("TASK_STATE_COMPLETED");
  expect(broken?.body).not.toContain("TASK_STATE_COMPLETED");
  expect(accepted?.body).not.toContain("TASK_STATE_COMPLETED");
  const { tasks } = JSON.parse(list?.body ?? "") as { tasks: { status: { state: string } }[] };
  expect(tasks.map(({ status }) => status.state)).toEqual(Array(3).fill("TASK_STATE_COMPLETED"));
});
