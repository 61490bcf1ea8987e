import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toBase64 } from "../../protocol/index.ts";
import { fromProtoFileBytes, selectProtoFileBytes, toProtoFileBytes } from "./proto-file-bytes.ts";
import { protoJsonCodec } from "./proto-json-codec.ts";

describe("a file with base64 text in a response", () => {
  const base64 = toBase64(new Uint8Array([0x80, 0x81, 0xff]));
  const text = toProtoFileBytes(base64, "base64-text");

  it.each([
    ["all", base64],
    ["none", text],
  ] as const)("decodes with the leniency %s [V-23]", (leniency, raw) => {
    const task = {
      id: "t",
      contextId: "c",
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [{ artifactId: "a", parts: [{ file: { fileWithBytes: text } }] }],
    };
    const { artifacts } = protoJsonCodec.decodeResult("GetTask", task, leniency);
    expect(artifacts?.[0]?.parts).toEqual([{ raw }]);
  });
});

describe("the files in the proto of 0.3", () => {
  it("return from the base64 text that the SDKs in Python, Go, and Java use [V-23]", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const base64 = toBase64(bytes);
        expect(fromProtoFileBytes(toProtoFileBytes(base64, "base64-text"))).toBe(base64);
      }),
    );
    expect(toProtoFileBytes("aGk=", "base64-text")).toBe(Buffer.from("aGk=").toString("base64"));
  });

  it("return from the bytes that the proto defines, unless the bytes are base64 text [V-23]", () => {
    for (const content of ["", "hi", "hello", "a b c d", "{}", "ümlaut", "\0\0\0\0", "abc=", "ab==cd=="]) {
      const base64 = Buffer.from(content).toString("base64");
      const isBase64 = content === "abc=";
      expect(fromProtoFileBytes(toProtoFileBytes(base64, "bytes"))).toBe(isBase64 ? content : base64);
    }
  });

  it.each([
    ["grpc-python-asyncio/1.80.0 grpc-c/53.0.0 (linux; chttp2)", "base64-text"],
    ["grpc-go/1.73.0", "base64-text"],
    ["grpc-java-netty/1.70.0", "base64-text"],
    ["python-httpx/0.28.1", "base64-text"],
    ["Java-http-client/17.0.2", "base64-text"],
    ["grpc-node-js/1.14.7", "bytes"],
    ["node", "bytes"],
    ["Mozilla/5.0 (X11; Linux) python-like", "bytes"],
    [undefined, "bytes"],
  ])("are for the client %s the %s [V-23]", (userAgent, fileBytes) => {
    expect(selectProtoFileBytes(userAgent)).toBe(fileBytes);
  });
});
