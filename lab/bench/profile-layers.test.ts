import { expect, it } from "vitest";
import { computeLayerShares, type CpuProfile } from "./profile-layers.ts";

const profile: CpuProfile = {
  nodes: [
    { id: 1, callFrame: { functionName: "(idle)", url: "", lineNumber: 0 } },
    { id: 2, callFrame: { functionName: "send", url: "file:///build/dist/chunks/a.js", lineNumber: 3 } },
    { id: 3, callFrame: { functionName: "writev", url: "", lineNumber: 0 } },
    { id: 4, callFrame: { functionName: "(garbage collector)", url: "", lineNumber: 0 } },
    { id: 6, callFrame: { functionName: "fdatasync", url: "", lineNumber: 0 } },
    { id: 5, callFrame: { functionName: "end", url: "node:_http_outgoing", lineNumber: 0 } },
  ],
  startTime: 1000,
  samples: [2, 2, 1, 3, 6, 4, 5, 2],
  timeDeltas: [0, 50, 300, 20, 200, 10, 20, 900],
};

const script = "// src/server/a.ts\nconst a = 1;\n// src/engine/engine.ts\nfunction send() {}\n";

it("divides the CPU time of a part of a profile among the layers", () => {
  expect(computeLayerShares(profile, "/build", [1000, 2000], () => script)).toEqual({
    engine: 0.5,
    "native code": 0.2,
    "garbage collection": 0.1,
    "JavaScript of Node": 0.2,
  });
});
