/** The result of a pytest run. */
export interface TestReport {
  readonly passed: number;
  readonly skipped: number;
  /** Failed tests with their messages. */
  readonly failed: ReadonlyMap<string, string>;
}

/**
 * Parses pytest's JUnit report with regular expressions. This is safe because the elements read here are
 * never nested.
 */
export function parseJunitReport(xml: string): TestReport {
  const failed = new Map<string, string>();
  let passed = 0;
  let skipped = 0;
  const cases = xml.matchAll(
    /<testcase classname="([^"]*)" name="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g,
  );
  for (const [, classname = "", name = "", inner = ""] of cases) {
    const [, message] = /<(?:failure|error) message="([^"]*)"/.exec(inner) ?? [];
    if (message !== undefined)
      failed.set(`${classNameToTestPath(classname)}::${name}`, unescapeXml(message).slice(0, 400));
    else if (inner.includes("<skipped")) skipped++;
    else passed++;
  }
  if (passed === 0) throw new Error("the kit ran no test");
  return { passed, skipped, failed };
}

/**
 * Converts a class name to a path: `tests.compatibility.http_json.test_x.TestY` →
 * `compatibility/http_json/test_x.py::TestY`.
 */
function classNameToTestPath(classname: string): string {
  const [, folders = "", file = "", group] = /^tests\.(.+)\.(test_\w+)(?:\.(.+))?$/.exec(classname) ?? [];
  return `${folders.replaceAll(".", "/")}/${file}.py${group === undefined ? "" : `::${group}`}`;
}

function unescapeXml(xml: string): string {
  const names: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', amp: "&", "#10": " " };
  return xml.replaceAll(/&([^;]+);/g, (entity, name: string) => names[name] ?? entity);
}
