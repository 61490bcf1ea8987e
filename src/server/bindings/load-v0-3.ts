import type * as SimpleDialect from "../../wire/simple-dialect/index.ts";
import type * as V03 from "../../wire/v0_3/index.ts";

let v0_3: typeof V03 | undefined;
let simpleDialect: typeof SimpleDialect | undefined;

/** Loads the codecs of A2A 0.3 at the first request that needs them. */
export function loadV03(): typeof V03 | Promise<typeof V03> {
  return v0_3 ?? import("../../wire/v0_3/index.ts").then((loaded) => (v0_3 = loaded));
}

/** Loads the codec of the simple dialect at the first request of A2A 0.3. */
export function loadSimpleDialect(): typeof SimpleDialect | Promise<typeof SimpleDialect> {
  return (
    simpleDialect ?? import("../../wire/simple-dialect/index.ts").then((loaded) => (simpleDialect = loaded))
  );
}
