// Java's part of bench/run programs: what the virtual machine asks malloc for. Many threads, direct buffers, deflaters
// (each has its native state) and jars read; the objects themselves are in a heap of its own.
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

public class Deflate {
    static long work(int seed) {
        long random = seed, total = 0;
        byte[] in = new byte[20000], out = new byte[40000];
        List<ByteBuffer> buffers = new ArrayList<>();
        for (int turn = 0; turn < 150; turn++) {
            for (int i = 0; i < in.length; i++) {
                random = (random * 1103515245 + 12345) & 0x7fffffff;
                in[i] = (byte) (random >> 16 & 15);
            }
            Deflater deflater = new Deflater(turn % 9 + 1);
            deflater.setInput(in);
            deflater.finish();
            total += deflater.deflate(out);
            deflater.end();
            ByteBuffer buffer = ByteBuffer.allocateDirect((int) (random % 200000) + 1000);
            buffer.put(in, 0, 1000);
            if (buffers.size() < 20)
                buffers.add(buffer);
            else
                buffers.set((int) (random % 20), buffer);
        }
        CRC32 sum = new CRC32();
        sum.update(out);
        return total + sum.getValue() % 10;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Map<Integer, Long> results = new HashMap<>();
        for (int round = 0; round < 3; round++) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                int number = round * 8 + i;
                threads.add(new Thread(() -> {
                    long result = work(number);
                    synchronized (results) {
                        results.put(number, result);
                    }
                }));
            }
            for (Thread thread : threads)
                thread.start();
            for (Thread thread : threads)
                thread.join();
        }
        System.out.println(results.values().stream().mapToLong(Long::longValue).sum());
    }
}
