import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Task, TaskPushNotificationConfig } from "../../protocol/index.ts";
import { createServer, type Server } from "../../server/index.ts";
import { createTempTestDirectoryWithFiles } from "../cli-test-process.fixture.ts";
import {
  instructionFollowingTestAgent,
  startInstructionFollowingTestServer,
  type RunningTestServer,
} from "./test-servers.fixture.ts";
import {
  runCliExpectingError,
  parseLabeledCliOutputFields,
  runCliForJson,
  runCliExpectingSuccess,
  ANY_NON_EMPTY_TEXT,
} from "./run-command.fixture.ts";

describe("task download", () => {
  let served: RunningTestServer;
  let id = "";
  beforeAll(async () => {
    served = await startInstructionFollowingTestServer();
    ({ id } = (await runCliForJson<{ task: Task }>(["send", served.url, "parts"])).task);
  });
  afterAll(() => served.close());

  it("saves every part of every artifact, and lists links [DOWNLOAD_001]", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const { out } = await runCliExpectingSuccess(["task", "download", served.url, id, "--dir", "out"], {
      cwd,
    });
    expect(parseLabeledCliOutputFields(out)).toMatchObject({
      Task: id,
      Context: ANY_NON_EMPTY_TEXT,
      State: "TASK_STATE_COMPLETED",
    });
    expect(parseLabeledCliOutputFields(out)["Link"]).toBe("https://example.com/big.bin");
    expect((await readdir(join(cwd, "out"))).toSorted()).toEqual(["hello.txt", "report.json", "report.txt"]);
    expect(await readFile(join(cwd, "out/hello.txt"), "utf8")).toBe("hello");
    expect(JSON.parse(await readFile(join(cwd, "out/report.json"), "utf8"))).toEqual({ rows: 2 });
  });

  it("lists the saved files in JSON [DOWNLOAD_001]", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const result = await runCliForJson<{ saved: object[] }>(["task", "download", served.url, id], { cwd });
    expect(result.saved).toContainEqual({
      path: join(cwd, "hello.txt"),
      artifactId: "report",
      mediaType: "text/plain",
      bytes: 5,
    });
  });

  it("overwrites files only with --force [DOWNLOAD_001]", async () => {
    const cwd = await createTempTestDirectoryWithFiles({ "hello.txt": "precious" });
    const words = ["task", "download", served.url, id];
    expect(await runCliExpectingError(words, { cwd })).toMatchObject({
      exit: 2,
      hint: expect.stringContaining("--force") as string,
    });
    expect(await readFile(join(cwd, "hello.txt"), "utf8")).toBe("precious");
    await runCliExpectingSuccess([...words, "--force"], { cwd });
    expect(await readFile(join(cwd, "hello.txt"), "utf8")).toBe("hello");
  });
});

describe("task push-config", () => {
  let server: Server;
  let url = "";
  let task = "";
  const run = (command: string, ...words: string[]): string[] => [
    "task",
    "push-config",
    command,
    url,
    task,
    ...words,
  ];

  beforeAll(async () => {
    server = createServer(instructionFollowingTestAgent, { store: "memory", push: { allowPrivate: true } });
    ({ url } = await server.listen());
    task = (await runCliForJson<{ task: Task }>(["send", url, "ask"])).task.id;
  });
  afterAll(() => server.close({ graceMs: 50 }));

  it("creates, gets, lists and deletes [PUSH_001]", async () => {
    const webhook = ["--url", "http://127.0.0.1:9/hook", "--token", "t0ken-of-mine"];
    const made = await runCliForJson<TaskPushNotificationConfig>(
      run("create", ...webhook, "--scheme", "Bearer", "--credentials", "cr3dential"),
    );
    expect(made).toMatchObject({ id: ANY_NON_EMPTY_TEXT, taskId: task, url: "http://127.0.0.1:9/hook" });
    const id = made.id ?? "";
    expect(await runCliForJson(run("get", id))).toMatchObject({ id, url: made.url });
    expect(await runCliForJson(run("list"))).toMatchObject({ configs: [{ id }] });
    expect((await runCliExpectingSuccess(run("list"))).out).toMatch(
      new RegExp(`^Config: ${id}\nTask: ${task}\nURL: http://127.0.0.1:9/hook\n`),
    );
    expect((await runCliExpectingSuccess(run("delete", id))).out).toBe(`Deleted: ${id}\n`);
    expect((await runCliForJson<{ configs?: object[] }>(run("list"))).configs ?? []).toEqual([]);
    await runCliExpectingSuccess(run("delete", id));
    expect(await runCliExpectingError(run("get", id))).toMatchObject({ exit: 1 });
  });

  it("hides the webhook's secrets in text output and with --debug [PUSH_001, AUTH_004]", async () => {
    const secrets = ["--token", "t0ken-of-mine", "--scheme", "Bearer", "--credentials", "cr3dential"];
    const { out, err } = await runCliExpectingSuccess(
      run("create", "--url", "http://127.0.0.1:9/x", ...secrets, "--debug"),
    );
    expect(out).toContain("Token: ***");
    expect(out + err).not.toMatch(/t0ken|cr3dential/);
  });

  it("is not requested from an agent without push notifications [VER_003, PUSH_001]", async () => {
    const served = await startInstructionFollowingTestServer();
    const { task } = await runCliForJson<{ task: Task }>(["send", served.url, "ask"]);
    const without = createServer(
      {
        ...instructionFollowingTestAgent,
        describe: () => ({ ...DESCRIPTION, capabilities: { pushNotifications: false } }),
      },
      { store: "memory" },
    );
    const { url } = await without.listen();
    expect(await runCliExpectingError(["task", "push-config", "list", url, task.id])).toMatchObject({
      code: "PushNotificationNotSupportedError",
      exit: 1,
    });
    await without.close();
    await served.close();
  });
});

const DESCRIPTION = { name: "actor", description: "Does what it is told" };
