/** Streams that are cut and resumed, and clients that disconnect. */
import "../../../test/resilience/disconnect.test.ts";
import "../../../test/resilience/resume.test.ts";
