// crcs: reads paths, one a line, and prints the CRC-64/NVME of each file in hex: what the S3 sink must have received.
#include "../../Sources/CDigest/include/CDigest.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
  static char path[8192], bytes[1 << 20];
  while (fgets(path, sizeof path, stdin)) {
    path[strcspn(path, "\n")] = 0;
    int fd = open(path, O_RDONLY);
    uint64_t crc = 0;
    ssize_t n = -1;
    while (fd >= 0 && (n = read(fd, bytes, sizeof bytes)) > 0) crc = cdigest_crc64nvme(crc, bytes, (size_t)n);
    if (n < 0) return perror(path), 66;
    close(fd);
    printf("%016lx\n", crc);
  }
}
