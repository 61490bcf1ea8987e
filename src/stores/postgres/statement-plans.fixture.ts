import { globSync } from "node:fs";
import type { PostgresStatement } from "./define-statement.ts";
import { runTestSql } from "./postgres-server.fixture.ts";

type TestStatement = PostgresStatement<readonly unknown[], unknown>;

export interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

/** Resolves with all statements of the store. */
export async function importTestStatements(): Promise<TestStatement[]> {
  const files = globSync("statements/*.ts", { cwd: import.meta.dirname });
  const modules = await Promise.all(
    files.map((file) => import(/* @vite-ignore */ new URL(file, import.meta.url).href) as Promise<object>),
  );
  return modules
    .flatMap((exports): unknown[] => Object.values(exports))
    .filter((value) => typeof value === "object" && value !== null && "text" in value && "name" in value)
    .map((value) => value as TestStatement);
}

/** Resolves with the accesses of a statement to tables, with the settings of the connections of the store. */
export async function explainTestStatement(
  url: string,
  { name, text }: Pick<TestStatement, "name" | "text">,
  values: string,
): Promise<PlanNode[]> {
  const [row] = await runTestSql(
    url,
    `SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off;
    PREPARE ${name} AS ${text};
    EXPLAIN (FORMAT JSON) EXECUTE ${name}(${values})`,
  );
  const explained = row?.["QUERY PLAN"] as [{ Plan: PlanNode }] | undefined;
  if (!explained) throw new Error("the statement has no plan");
  return flattenPlan(explained[0].Plan).filter((node) => "Relation Name" in node || "Index Name" in node);
}

function flattenPlan(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flattenPlan)];
}
