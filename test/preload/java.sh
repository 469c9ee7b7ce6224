#!/bin/bash
# java: the compiler and a program; the heap is the machine's own, its compilers, threads, zip and direct buffers allocate.
. "$(dirname "$0")/lib.sh"
command -v javac >/dev/null || script_skip "javac is not installed (test/packages-nightly.txt)"
preload_binds java -version
unset JAVA_TOOL_OPTIONS
mkdir "$scratch/java"
cat >"$scratch/java/Work.java" <<'JAVA'
import java.io.*;
import java.nio.*;
import java.security.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.zip.*;

public class Work {
    static String work(int seed) throws Exception {
        Map<String, StringBuilder> map = new TreeMap<>();
        for (int i = 0; i < 60000; i++)
            map.computeIfAbsent(Integer.toString((i * 0x9e3779b1 + seed) >>> 12, 36), k -> new StringBuilder()).append(i);
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
            out.write(map.toString().getBytes());
        }
        List<ByteBuffer> buffers = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(1 + i * 7919 % 60000);
            while (buffer.hasRemaining())
                buffer.put((byte) i);
            buffers.add(buffer);
        }
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (ByteBuffer buffer : buffers) {
            buffer.flip();
            digest.update(buffer);
        }
        digest.update(new GZIPInputStream(new ByteArrayInputStream(packed.toByteArray())).readAllBytes());
        return map.size() + " " + HexFormat.of().formatHex(digest.digest());
    }

    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(8);
        List<Future<String>> answers = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            int seed = i;
            answers.add(pool.submit(() -> work(seed)));
        }
        for (Future<String> answer : answers)
            System.out.println(answer.get());
        pool.shutdown();
    }
}
JAVA
succeeds "the compiler" javac -d . "$scratch/java/Work.java"
same_file Work.class
succeeds "a program with threads" java -Xmx400m -cp . Work
preload_done
