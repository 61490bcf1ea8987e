import { anything, assert, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { createLogObserver, resolveObserver } from "./log-observer.ts";
import { createRedactor } from "./redactor.ts";

function logError(format: "json" | "pretty", error: unknown): string {
  const lines: string[] = [];
  const observer = createLogObserver({ format, write: (line) => lines.push(line) });
  observer.onError?.({ where: "agent", error, taskId: "t1", errorId: "e1" });
  return lines.join("");
}

describe("the log", () => {
  it("has one JSON object per entry, with the stack of the error and of its causes", () => {
    const error = new Error("No answer", { cause: new Error("No route", { cause: "a loose cable" }) });
    const line = logError("json", error);
    expect(line.trim()).not.toContain("\n");
    const entry = JSON.parse(line) as Record<string, string>;
    expect(entry).toMatchObject({
      level: "error",
      where: "agent",
      message: "No answer",
      taskId: "t1",
      errorId: "e1",
    });
    expect(entry["stack"]).toMatch(
      /^Error: No answer\n {4}at .*\nCaused by: Error: No route\n.*\nCaused by: a loose cable$/s,
    );
  });

  it("has no control characters in JSON that a terminal would execute", () => {
    const line = logError("json", new Error("\u001b[31m \u009b2J \u202egpj\u2028"));
    // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
    expect(line.trimEnd()).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e]/);
    expect((JSON.parse(line) as { message: string }).message).toBe("\u001b[31m \u009b2J \u202egpj\u2028");
  });

  it("is text for people, without control characters that a terminal would execute", () => {
    const text = logError("pretty", new Error("red \u001b[31m text"));
    expect(text).toMatch(
      /^\d\d:\d\d:\d\d error agent \(task t1, error id e1\): Error: red \\u001b\[31m text\n {4}at /,
    );
  });

  it("indents the lines of an error, so that an agent cannot forge entries", () => {
    for (const thrown of [
      "No luck\n12:00:00 info store: forged",
      new Error("No luck\n12:00:00 info store: forged"),
    ]) {
      const [first, ...others] = logError("pretty", thrown).trimEnd().split("\n");
      expect(first).toMatch(/ error agent \(task t1, error id e1\): (?:Error: )?No luck$/);
      expect(others[0]).toBe("    12:00:00 info store: forged");
      expect(others.every((line) => line.startsWith("    "))).toBe(true);
    }
  });

  it("describes every thrown value in one line of JSON", () => {
    assert(
      property(anything(), (thrown) => {
        const line = logError("json", thrown);
        expect(line.endsWith("\n")).toBe(true);
        expect(typeof (JSON.parse(line) as { message: unknown }).message).toBe("string");
      }),
    );
  });

  it("has warnings for rejected credentials, and for failing and abandoned webhooks, and requests on request", () => {
    const lines: string[] = [];
    const observer = createLogObserver({
      format: "pretty",
      requests: true,
      write: (line) => lines.push(line),
    });
    const delivery = { scope: { tenant: "", agentId: "a" } as never, taskId: "t1", configId: "c1", seq: 1 };
    observer.onCredentialsRejected?.({ scheme: "bearer", reason: "the token expired" });
    const failure = { ...delivery, outcome: "failed", reason: "HTTP 503", retryInMs: 1500 } as const;
    observer.onPush?.({ ...failure, isFirstFailure: true });
    observer.onPush?.({ ...failure, isFirstFailure: false });
    observer.onPush?.({ ...delivery, outcome: "dead", reason: "HTTP 410" });
    observer.onStoreState?.({
      store: "sqlite:a.db",
      state: "full",
      previousState: "healthy",
      error: new Error("disk full"),
    });
    observer.onStoreState?.({ store: "sqlite:a.db", state: "healthy", previousState: "full" });
    const migration = {
      store: "sqlite:a.db",
      fromVersion: 6,
      toVersion: 8,
      backupFile: "a.db.schema-6.bak",
      bytes: 5_054_321_000,
      elapsedMs: 12_345,
    };
    observer.onStoreMigration?.({ ...migration, phase: "backup" });
    observer.onStoreMigration?.({ ...migration, phase: "step", nextVersion: 7 });
    observer.onStoreMigration?.({ ...migration, phase: "done" });
    observer.onStoreMigration?.({ ...migration, phase: "done", backupFile: undefined });
    const sweep = { deletedTasks: 1, trimmedTasks: 0, evictedTasks: 3, evictedWaitingTasks: 0 };
    observer.onSweep?.({ ...sweep, isOverMaxBytes: false });
    observer.onSweep?.({ ...sweep, isOverMaxBytes: true });
    observer.onSweep?.({ ...sweep, evictedWaitingTasks: 2, isOverMaxBytes: false });
    const delayed = {
      endedTasks: 50,
      waitingTasks: 20,
      trimmedTasks: 3,
      clockAheadMs: 8.64e9,
      delayMs: 8.64e7,
    };
    observer.onSweep?.({ ...sweep, isOverMaxBytes: false, delayed });
    observer.onWarning?.({ where: "agent", message: "Write yield status(…).", taskId: "t1" });
    observer.onRequest?.({ method: "POST", path: "/a2a/a", status: 200, durationMs: 1.4 });
    expect(lines.map((line) => line.slice(9))).toEqual([
      "warn authentication: bearer: the token expired\n",
      "warn push (task t1): Webhook c1 failed, and the server retries: HTTP 503\n",
      "warn push (task t1): Webhook c1 receives no more notifications: HTTP 410\n",
      "error store: The task store sqlite:a.db is full: disk full\n",
      "info store: The task store sqlite:a.db is healthy\n",
      "info store: The task store sqlite:a.db (5054.3 MB) is copied to a.db.schema-6.bak before its migration from schema 6 to 8\n",
      "info store: The task store sqlite:a.db is migrated to schema 7 of 8, after 12.3 s\n",
      "info store: The task store sqlite:a.db was migrated from schema 6 to 8 in 12.3 s. The earlier version of Colloquy can open a.db.schema-6.bak. Delete this backup when you no longer need it\n",
      "info store: The task store sqlite:a.db was migrated from schema 6 to 8 in 12.3 s. There is no backup for the earlier version of Colloquy\n",
      "warn retention: The store is larger than maxBytes, and no ended task is left that the server may delete\n",
      "warn retention: The memory store exceeded maxBytes and deleted 2 tasks that waited for input\n",
      "warn retention: The clock is 2400.0 h later than expected, so 50 ended tasks, 20 waiting tasks, and the events of 3 tasks are not deleted for the next 24.0 h of running time. If the clock is wrong, correct it. If the clock is right, a sweep by hand deletes them now\n",
      "warn agent (task t1): Write yield status(…).\n",
      "info request: POST /a2a/a 200 in 1 ms\n",
    ]);
    expect(createLogObserver()).not.toHaveProperty("onRequest");
  });

  it("has only known formats", () => {
    expect(() => createLogObserver({ format: "xml" as "json" })).toThrow('use "json" or "pretty"');
  });

  it("is the default observer, unless the observer is false", () => {
    expect(resolveObserver(undefined)).toHaveProperty("onError");
    expect(resolveObserver(false)).toEqual({});
  });
});

describe("the redaction of secrets [SEC-46]", () => {
  it.each([
    ["Authorization: Bearer abc.def-123456", "Authorization: Bearer ***"],
    ["Incorrect API key provided: sk-proj-abcdef123456.", "Incorrect API key provided: ***."],
    ["https://ada:lovelace@example.com/x", "https://***@example.com/x"],
    ["GET /x?api_key=abc&page=2", "GET /x?api_key=***&page=2"],
    ['{"access_token":"abc","user":"ada"}', '{"access_token":"***","user":"ada"}'],
    ["token eyJhbGciOiJ.eyJzdWIi.c2ln ended", "token *** ended"],
    ["the value swordfish-42 of a variable", "the value *** of a variable"],
    ["Bearer authentication failed", "Bearer authentication failed"],
    ["Unexpected token '}' at 5; maxTokens: 7", "Unexpected token '}' at 5; maxTokens: 7"],
  ])("changes %j to %j", (text, redacted) => {
    const env = { MY_API_KEY: "swordfish-42", HOME: "authentication", SHORT_KEY: "at" };
    expect(createRedactor({ env }).redactText(text)).toBe(redacted);
  });
});
