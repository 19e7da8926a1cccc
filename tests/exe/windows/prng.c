/* bcryptprimitives.dll: Go since 1.22 wants this function of Windows at its start, which Wine has
 * not had before 9. It is linked without C's library (tests/exe/wine.sh). */

int _tls_index; /* Zig's linker wants it */

__declspec(dllimport) unsigned char SystemFunction036(
    void *data, unsigned long size); /* RtlGenRandom() of ntsecapi.h */

int DllMain(void *instance, unsigned long reason, void *reserved);
int DllMain(void *instance, unsigned long reason, void *reserved)
{
    (void)instance;
    (void)reason;
    (void)reserved;
    return 1;
}

__declspec(dllexport) int ProcessPrng(void *data, unsigned long long size)
{
    return SystemFunction036(data, (unsigned long)size);
}
