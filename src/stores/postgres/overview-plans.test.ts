import { beforeAll, describe, expect, it } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import { aliceTestTaskScope } from "../task-event-logs.fixture.ts";
import { chooseListStatement, PostgresStore } from "./postgres-store.ts";
import { runTestSql } from "./postgres-server.fixture.ts";
import { explainTestStatement } from "./statement-plans.fixture.ts";
import { LIST_OVERVIEW_OF_TEXT } from "./statements/overview.ts";
import type { TaskOverviewQuery } from "../server-store.ts";

const { url, reason } = await findTestDatabase();

const SCOPES = "ARRAY['00000000-0000-4000-8000-000000000001'::uuid]";
/** The values of a page in the middle of a list. */
const PAGE = "ARRAY['TASK_STATE_COMPLETED'], '2026-01-01', '2026-06-01', 'x', 51";

describe.skipIf(reason)("a list of the console in PostgreSQL", () => {
  beforeAll(async () => {
    const store = new PostgresStore(url);
    await store.open();
    await store.overview.prepareForAllCallers?.();
    await store.close();
    // Ten thousand tasks of a hundred callers and ten agents in a thousand contexts, which the planner knows.
    await runTestSql(
      url,
      `INSERT INTO colloquy.task
        (scope, task_id, tenant, principal, agent, context_id, seq, state, status_time, epoch, running)
      SELECT ('00000000-0000-4000-8000-' || lpad((n % 100)::text, 12, '0'))::uuid, 'task-' || n, '', 'alice', 'agent-' || n % 10,
        'context-' || n % 1000, 1, 'TASK_STATE_COMPLETED', '2026-01-' || (n % 28 + 1), 0, false
      FROM generate_series(1, 10000) AS n;
      INSERT INTO colloquy.task_text (task, seq, words) SELECT key, seq, ('word' || key)::tsvector FROM colloquy.task;
      ANALYZE colloquy.task; ANALYZE colloquy.task_text`,
    );
  });

  it.each<[string, Omit<TaskOverviewQuery, "limit">, string, string, RegExp]>([
    ["of a caller", { scopes: [aliceTestTaskScope] }, `${SCOPES}, NULL, NULL`, "task_by_state", /scope = /],
    [
      "of a caller in a context",
      { scopes: [aliceTestTaskScope], contextId: "c" },
      `${SCOPES}, NULL, 'context-1'`,
      "task_by_context|task_overview_of_context",
      /context_id = /,
    ],
    ["of all callers", {}, "NULL, NULL, NULL", "task_overview", /state = /],
    ["of an agent", { agent: "a" }, "NULL, 'agent-1', NULL", "task_overview_of_agent", /agent = /],
    [
      "in a context",
      { contextId: "c" },
      "NULL, NULL, 'context-1'",
      "task_overview_of_context",
      /context_id = /,
    ],
    [
      "of an agent in a context",
      { agent: "a", contextId: "c" },
      "NULL, 'agent-1', 'context-1'",
      "task_overview_of_context",
      /context_id = /,
    ],
  ])("%s reads one index range per state and page", async (_, query, values, index, condition) => {
    const nodes = await explainTestStatement(url, chooseListStatement(query), `${PAGE}, ${values}`);
    expect(nodes.map((node) => [node["Node Type"], node["Index Name"]])).toEqual([
      [expect.stringMatching(/^Index (Only )?Scan/), expect.stringMatching(new RegExp(`^(${index})$`))],
    ]);
    const range = nodes[0]?.["Index Cond"] ?? "";
    expect(range).toMatch(condition);
    // The state, the earliest time, and the position of the page limit the range, too.
    expect(range).toMatch(/state = .*status_time >= .*ROW\(/);
  });

  it("with a text reads the index of words", async () => {
    const nodes = await explainTestStatement(
      url,
      LIST_OVERVIEW_OF_TEXT,
      `${PAGE}, NULL, NULL, NULL, 'word1:*'`,
    );
    expect(nodes.map((node) => node["Index Name"])).toContain("task_text_words");
    expect(nodes.filter((node) => node["Node Type"] === "Seq Scan")).toEqual([]);
  });
});
