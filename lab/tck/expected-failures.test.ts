import { describe, expect, it } from "vitest";
import { countUnexpectedOutcomes, type ExpectedFailure } from "./count-unexpected-outcomes.ts";
import { parseJunitReport } from "./junit-report.ts";

const JUNIT_XML = `<testsuites><testsuite>
  <testcase classname="tests.compatibility.http_json.test_a.TestA" name="test_ok[x-1]" time="0.1" />
  <testcase classname="tests.compatibility.http_json.test_a.TestA" name="test_bad" time="0.1"><failure message="a &lt; b&#10;c">trace</failure></testcase>
  <testcase classname="tests.mandatory.test_b" name="test_worse" time="0"><error message="down">trace</error></testcase>
  <testcase classname="tests.mandatory.test_b" name="test_off" time="0"><skipped message="off" /></testcase>
</testsuite></testsuites>`;

const FAILED_TEST = "compatibility/http_json/test_a.py::TestA::test_bad";
const OTHER_FAILED_TEST = "mandatory/test_b.py::test_worse";

describe("a run of a compatibility kit", () => {
  const expecting = (...tests: string[]): ExpectedFailure[] =>
    tests.map((test) => ({ test, runs: ["one"], reason: "the kit is wrong" }));
  const surprises = (run: string, expected: ExpectedFailure[]): { count: number; lines: string[] } => {
    const lines: string[] = [];
    return {
      count: countUnexpectedOutcomes(parseJunitReport(JUNIT_XML), run, expected, (line) => lines.push(line)),
      lines,
    };
  };

  it("is read from pytest's report", () => {
    const { passed, skipped, failed } = parseJunitReport(JUNIT_XML);
    expect({ passed, skipped, failed: [...failed] }).toEqual({
      passed: 1,
      skipped: 1,
      failed: [
        [FAILED_TEST, "a < b c"],
        [OTHER_FAILED_TEST, "down"],
      ],
    });
    expect(() => parseJunitReport("<testsuites/>")).toThrow("no test");
  });

  it("is as expected if exactly the listed tests fail", () => {
    expect(surprises("one", expecting(FAILED_TEST, OTHER_FAILED_TEST)).count).toBe(0);
  });

  it("fails for a failure that is not listed, or only for another run", () => {
    const { count, lines } = surprises("one", expecting(FAILED_TEST));
    expect(count).toBe(1);
    expect(lines.join("\n")).toContain(`FAILED: ${OTHER_FAILED_TEST}`);
    expect(surprises("two", expecting(FAILED_TEST, OTHER_FAILED_TEST)).count).toBe(2);
  });

  it("fails if a listed test passes", () => {
    const { count, lines } = surprises(
      "one",
      expecting(FAILED_TEST, OTHER_FAILED_TEST, "compatibility/test_c.py::test_gone"),
    );
    expect(count).toBe(1);
    expect(lines.join("\n")).toContain("STALE: compatibility/test_c.py::test_gone");
  });

  it("accepts that a listed test with an intermittent failure passes", () => {
    const intermittent = expecting("compatibility/test_c.py::test_racy").map((one) => ({
      ...one,
      isIntermittent: true,
    }));
    const { count, lines } = surprises("one", [
      ...expecting(FAILED_TEST, OTHER_FAILED_TEST),
      ...intermittent,
    ]);
    expect(count).toBe(0);
    expect(lines.at(-1)).toContain("2 failed as expected, 0 failed, 0 stale");
  });
});
