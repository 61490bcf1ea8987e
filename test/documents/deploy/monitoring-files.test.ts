import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { loadAll } from "js-yaml";
import { describe, expect, it } from "vitest";
import { METRIC_CATALOG, type MetricName, toPrometheusName } from "../../../src/observe/telemetry/index.ts";
import { toPrometheusLabel } from "../../../src/observe/telemetry/metrics/metric-registry.ts";

interface QueriesOfFile {
  readonly name: string;
  readonly queries: readonly string[];
}

function readText(file: string): string {
  return readFileSync(new URL(`../../../deploy/${file}`, import.meta.url), "utf8");
}

const dashboard = JSON.parse(readText("grafana/colloquy.json")) as {
  panels: { id: number; type: string; title: string; description?: string; targets?: { expr: string }[] }[];
};
const [{ groups }] = loadAll(readText("prometheus/alerts.yml")) as [
  {
    groups: {
      rules: { alert: string; expr: string; annotations: Record<string, string>; labels: object }[];
    }[];
  },
];
const rules = groups.flatMap((group) => group.rules);
const FILES: readonly QueriesOfFile[] = [
  {
    name: "the dashboard",
    queries: dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  },
  { name: "the alerts", queries: rules.map(({ expr }) => expr) },
];

/** The series of each metric, and the labels that each series has. */
const labelsBySeries = new Map<string, ReadonlySet<string>>();
for (const name of Object.keys(METRIC_CATALOG) as MetricName[]) {
  const { kind, labels } = METRIC_CATALOG[name];
  // Prometheus adds `job` and `instance`.
  const known = [...labels.map(toPrometheusLabel), "job", "instance"];
  const id = toPrometheusName(name);
  if (kind !== "histogram") labelsBySeries.set(id, new Set(known));
  else
    for (const suffix of ["bucket", "sum", "count"])
      labelsBySeries.set(`${id}_${suffix}`, new Set(suffix === "bucket" ? [...known, "le"] : known));
}

const FUNCTIONS = new Set(["histogram_quantile", "sum", "max", "min", "rate", "increase", "by", "and", "or"]);

/** Removes strings, ranges, and numbers from a query, so that only names remain. */
function listNames(query: string): { readonly series: string[]; readonly labels: string[] } {
  const withoutText = query.replaceAll(/"(?:[^"\\]|\\.)*"/g, "").replaceAll(/\[[^\]]*\]/g, "");
  const groupLabels = [...withoutText.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = ""]) =>
    list.split(","),
  );
  const matched = [...withoutText.matchAll(/\{([^}]*)\}/g)].flatMap(([, list = ""]) =>
    list.split(",").map((pair) => pair.replace(/[=!~].*$/, "")),
  );
  const rest = withoutText.replaceAll(/\bby \([^)]*\)/g, "").replaceAll(/\{[^}]*\}/g, "");
  return {
    series: (rest.match(/[a-z_]\w*/gi) ?? []).filter((name) => !FUNCTIONS.has(name)),
    labels: [...groupLabels, ...matched].map((label) => label.trim()).filter((label) => label !== ""),
  };
}

describe.each(FILES)("the queries of $name", ({ queries }) => {
  it("use only metrics and labels that the server has", () => {
    expect(queries.length).toBeGreaterThan(5);
    for (const query of queries) {
      const { series, labels } = listNames(query);
      expect({ query, count: series.length }).not.toEqual({ query, count: 0 });
      expect({ query, unknown: series.filter((name) => !labelsBySeries.has(name)) }).toEqual({
        query,
        unknown: [],
      });
      const known = new Set(series.flatMap((name) => [...(labelsBySeries.get(name) ?? [])]));
      expect({ query, unknown: labels.filter((label) => !known.has(label)) }).toEqual({ query, unknown: [] });
    }
  });
});

it("the check of queries finds unknown metrics and labels", () => {
  expect(listNames('sum by (agent) (rate(colloquy_x_total{state="a"}[5m])) > 0.5')).toEqual({
    series: ["colloquy_x_total"],
    labels: ["agent", "state"],
  });
});

it("each metric is on the dashboard or in an alert", () => {
  const used = new Set(FILES.flatMap(({ queries }) => queries.flatMap((query) => listNames(query).series)));
  const unused = (Object.keys(METRIC_CATALOG) as MetricName[])
    .map(toPrometheusName)
    .filter((id) => ![...used].some((name) => name === id || name.startsWith(`${id}_`)));
  expect(unused).toEqual(["colloquy_retention_deleted_tasks_total"]);
});

it.skipIf(spawnSync("promtool", ["--version"]).error)("promtool accepts the alerts", () => {
  const file = fileURLToPath(new URL("../../../deploy/prometheus/alerts.yml", import.meta.url));
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "rules", file], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain(`${rules.length} rules found`);
});

it("each panel has an id and a description, and each alert has a severity and states what to do", () => {
  const ids = dashboard.panels.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const panels = dashboard.panels.filter(({ type }) => type !== "row");
  expect(panels.filter(({ description = "" }) => !description.endsWith("."))).toEqual([]);
  const isComplete = ({ labels, annotations }: (typeof rules)[number]): boolean =>
    "severity" in labels &&
    Boolean(annotations["summary"]) &&
    annotations["description"]?.endsWith(".") === true;
  expect(rules.filter((rule) => !isComplete(rule))).toEqual([]);
});
