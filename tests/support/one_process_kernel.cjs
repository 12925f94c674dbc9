// jsii's runtime starts its kernel as a second process, and copies each request and each answer from one to the other.
// Here the kernel itself reads and writes the pipes of Python; what it prints takes the same form as from the runtime.
const fs = require("fs");
const { Writable } = require("stream");
const { readSync, writeSync } = fs;
const CHANNEL = 3;
fs.readSync = (fd, ...rest) => readSync(fd === CHANNEL ? 0 : fd, ...rest);
fs.writeSync = (fd, ...rest) => writeSync(fd === CHANNEL ? 1 : fd, ...rest);

// Python sets this option in NODE_OPTIONS, and the kernel looks for it here: without it, it links 9,000 files one by one.
process.execArgv.push("--preserve-symlinks");

// The streams of Node would make its pipes non-blocking.
for (const name of ["stdout", "stderr"]) {
  const write = (chunk, _, done) => {
    writeSync(2, `${JSON.stringify({ [name]: chunk.toString("base64") })}\n`);
    done();
  };
  Object.defineProperty(process, name, { value: Object.assign(new Writable({ write }), { fd: 2 }) });
}
require(process.env.JSII_KERNEL);
