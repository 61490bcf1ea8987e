import { array, assert, constantFrom, double, property, record, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryCharacter } from "../../../../test/support/arbitrary-character.ts";
import {
  METRIC_CATALOG,
  type MetricName,
  toPrometheusName,
  MetricRegistry,
  renderPrometheusText,
} from "./metric-registry.ts";

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)$/;

/** Parses the text format: values by name and labels. */
function parseSamples(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  for (const line of text.split("\n")) {
    if (line === "" || /^# (HELP|TYPE) \S+ .+$/.test(line)) continue;
    const [, name, labels = "", value] = SAMPLE.exec(line) ?? [];
    if (name === undefined) throw new Error(`This line is no sample: ${line}`);
    const key = `${name}{${labels}}`;
    if (samples.has(key)) throw new Error(`This sample occurs twice: ${line}`);
    samples.set(key, Number(value));
  }
  return samples;
}

describe("the text of Prometheus", () => {
  it("has a name, a unit, and a type for each metric", () => {
    const metrics = new MetricRegistry();
    metrics.record("a2a.server.operation.duration", 0.02, { "a2a.method.name": "SendMessage" });
    metrics.add("colloquy.push.deliveries", 2, { outcome: "dead" });
    metrics.set("process.memory.usage", 1024);
    const text = renderPrometheusText(metrics);
    expect(text).toContain("# TYPE a2a_server_operation_duration_seconds histogram\n");
    expect(text).toContain(
      'a2a_server_operation_duration_seconds_bucket{a2a_method_name="SendMessage",le="0.025"} 1\n',
    );
    expect(text).toContain('colloquy_push_deliveries_total{outcome="dead"} 2\n');
    expect(text).toContain("process_memory_usage_bytes 1024\n");
  });

  it("counts the values of smaller buckets in each bucket of a histogram", () => {
    const metrics = new MetricRegistry();
    for (const seconds of [0.0001, 0.2, 0.2, 1000]) metrics.record("colloquy.commit.duration", seconds);
    const samples = parseSamples(renderPrometheusText(metrics));
    const id = "colloquy_commit_duration_seconds";
    expect(samples.get(`${id}_bucket{le="0.001"}`)).toBe(1);
    expect(samples.get(`${id}_bucket{le="0.1"}`)).toBe(1);
    expect(samples.get(`${id}_bucket{le="0.25"}`)).toBe(3);
    expect(samples.get(`${id}_bucket{le="300"}`)).toBe(3);
    expect(samples.get(`${id}_bucket{le="+Inf"}`)).toBe(4);
    expect(samples.get(`${id}_count{}`)).toBe(4);
    expect(samples.get(`${id}_sum{}`)).toBeCloseTo(1000.4001);
  });

  it("is valid for every label, and adds up", () => {
    const step = record({
      agent: string({ unit: arbitraryCharacter }),
      value: double({ min: 0, max: 1e6, noNaN: true }),
    });
    assert(
      property(array(step, { maxLength: 40 }), (steps) => {
        const metrics = new MetricRegistry();
        for (const { agent, value } of steps)
          metrics.record("gen_ai.invoke_agent.duration", value, { "gen_ai.agent.name": agent });
        const samples = parseSamples(renderPrometheusText(metrics).replaceAll(/[\r\u2028\u2029]/g, " "));
        const counts = [...samples].filter(([key]) =>
          key.startsWith("gen_ai_invoke_agent_duration_seconds_count"),
        );
        expect(counts.reduce((sum, [, count]) => sum + count, 0)).toBe(steps.length);
      }),
    );
  });

  it("has a bounded number of series, and counts the rest together", () => {
    const metrics = new MetricRegistry();
    for (let at = 0; at < 10_000; at++) metrics.add("colloquy.errors", 1, { where: `place ${at}` });
    const samples = parseSamples(renderPrometheusText(metrics));
    expect(samples.size).toBeLessThanOrEqual(501);
    expect(samples.get('colloquy_errors_total{otel_metric_overflow="true"}')).toBe(9_500);
  });

  it("ignores labels that the catalog does not list", () => {
    const metrics = new MetricRegistry();
    metrics.add("colloquy.push.deliveries", 1, { outcome: "dead", taskId: "t1" });
    metrics.add("colloquy.push.deliveries", 1, { outcome: "dead", taskId: "t2" });
    expect(parseSamples(renderPrometheusText(metrics))).toEqual(
      new Map([['colloquy_push_deliveries_total{outcome="dead"}', 2]]),
    );
  });

  it("has a different name for each metric", () => {
    assert(
      property(constantFrom(...(Object.keys(METRIC_CATALOG) as MetricName[])), (name) => {
        expect(toPrometheusName(name)).toMatch(/^[a-z][a-z0-9_]*$/);
      }),
    );
    const names = (Object.keys(METRIC_CATALOG) as MetricName[]).map(toPrometheusName);
    expect(new Set(names).size).toBe(names.length);
  });
});
